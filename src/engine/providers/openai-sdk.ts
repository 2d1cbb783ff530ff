export { OpenAI } from "openai/client";
