export type Terminal = {
  input: NodeJS.ReadStream;
  output: NodeJS.WriteStream;
  /** Colours and cursor movement make sense. */
  isScreen: boolean;
};
