/** In a file of its own: a bundler keeps what this names of the SDK, but all of a package that is imported by `import()`. */
export { BaseAnthropic } from "@anthropic-ai/sdk/client";
