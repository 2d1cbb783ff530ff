/** `fail`: needed and not there; `warn`: something works less well; `off`: not looked at. `mend` says what to do. */
export type CheckStatus = "ok" | "warn" | "fail" | "off";
export type Check = { name: string; status: CheckStatus; text: string; mend?: string };

export const ok = (name: string, text: string): Check => ({ name, status: "ok", text });
export const warn = (name: string, text: string, mend: string): Check => ({ name, status: "warn", text, mend });
export const fail = (name: string, text: string, mend: string): Check => ({ name, status: "fail", text, mend });
export const off = (name: string, text: string): Check => ({ name, status: "off", text });
