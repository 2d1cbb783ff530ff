/** What a signal is aborted with when it is not the person who interrupts. */
export class Interruption extends Error {
  override readonly name = "Interruption";
  /** As in "interrupted by the lead". */
  readonly by: string;

  constructor(by: string) {
    super(`Interrupted by ${by}.`);
    this.by = by;
  }
}

export function interrupter({ reason }: AbortSignal): string {
  return reason instanceof Interruption ? reason.by : "the user";
}
