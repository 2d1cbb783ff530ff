export const MAX_LINES = 2_000;
export const MAX_LINE_CHARACTERS = 2_000;
/** Below the size at which results are spilled: a read pages instead. */
export const MAX_CHARACTERS = 28_000;
