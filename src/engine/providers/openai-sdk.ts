import { OpenAI } from "openai/client";
import { isRecord } from "../../protocol/record.ts";

/** In a file of its own: a bundler keeps what this names of the SDK, but all of a package that is imported by `import()`. */
export class ChatSdk extends OpenAI {
  /** Many servers put the reason elsewhere than under "error", where alone the SDK looks. */
  protected override makeStatusError(status: number, body: object, message: string | undefined, headers: Headers) {
    const found = isRecord(body) && (body.error === undefined || body.error === null) ? { error: body } : body;
    return super.makeStatusError(status, found, message, headers);
  }
}
