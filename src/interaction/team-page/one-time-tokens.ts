import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

/** Links that open once, and the cookie that they are exchanged for. */
export class OneTimeTokens {
  readonly cookieValue = secret();
  #open: string | undefined;

  /** A new link; one that nobody used is void from now on. */
  next(): string {
    this.#open = secret();
    return this.#open;
  }

  /** True once for each token. */
  use(token: string): boolean {
    if (this.#open === undefined || !isSame(token, this.#open)) return false;
    this.#open = undefined;
    return true;
  }

  hasCookie(header: string | undefined, name: string): boolean {
    const values = (header ?? "").split(";").flatMap((pair) => {
      const [key = "", value = ""] = pair.trim().split("=", 2);
      return key === name ? [value] : [];
    });
    return values.some((value) => isSame(value, this.cookieValue));
  }
}

function secret(): string {
  return randomBytes(32).toString("base64url");
}

/** Takes the same time wherever they differ. */
function isSame(a: string, b: string): boolean {
  return timingSafeEqual(digest(a), digest(b));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
