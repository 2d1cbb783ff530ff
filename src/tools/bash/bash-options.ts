export type BashOptions = {
  /** Where output that is too large for the model is kept. */
  outputFolder: string;
  env: NodeJS.ProcessEnv;
  defaultTimeoutMs?: number;
  /** A command that has more of them at once is stopped. */
  maxProcesses?: number;
  /** Makes what blanks out secrets in one command's output, text after text. */
  secretMasker?: () => (text: string) => string;
  /** Wraps the argument vector, for the OS sandbox. */
  wrap?: (argv: readonly string[]) => readonly string[] | Promise<readonly string[]>;
};
