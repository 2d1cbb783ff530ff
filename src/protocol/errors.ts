/** A mistake of the person or of their surroundings: one line, no stack. `exitCode` as in spec.md section 2. */
export class UserError extends Error {
  override readonly name = "UserError";
  readonly exitCode: number;
  constructor(message: string, options: { exitCode?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.exitCode = options.exitCode ?? 2;
  }
}

/** No model can be asked: there is no provider, or one without its key. */
export class NoProvider extends UserError {}

/** What the model sent as a call's input does not fit the tool's schema; the text is for the model. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";
}

/** Someone else changed the record first; `current` is its revision now. */
export class RevisionConflict extends Error {
  override readonly name = "RevisionConflict";
  readonly current: number;
  constructor(what: string, current: number) {
    super(`${what} was changed by someone else (it is at revision ${current} now).`);
    this.current = current;
  }
}
