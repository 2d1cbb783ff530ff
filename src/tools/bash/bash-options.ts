export type BashOptions = {
  /** Where output that is too large for the model is kept. */
  outputFolder: string;
  env: NodeJS.ProcessEnv;
  defaultTimeoutMs?: number;
  /** A command that has more of them at once is stopped. */
  maxProcesses?: number;
  /** Makes what blanks out secrets in one command's output, text after text. */
  secretMasker?: () => (text: string) => string;
  /** Puts the command into the OS sandbox; undefined when it runs as it is. */
  contain?: (argv: readonly string[], call: { command: string; isUnsandboxed: boolean }) => Promise<Contained | undefined>;
};

/** `end` once nothing of the command runs any more: what it touched and may not, in words for the model; the same each time. */
export type Contained = {
  argv: readonly string[];
  end(): string | undefined;
  /** Why a command may have failed, by what it printed. */
  hint(output: string): string | undefined;
};
