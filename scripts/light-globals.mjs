// What the model SDKs need of the globals of the same names. The real ones load Node's whole fetch, which costs each process
// more than the SDK itself; the engine gives the SDKs a fetch that wants no more than this.

/** Names without regard to case; several values of one name are one line. */
export class Headers {
  #values = new Map();

  append(name, value) {
    const present = this.get(name);
    this.set(name, present === null ? value : `${present}, ${value}`);
  }

  set(name, value) {
    this.#values.set(name.toLowerCase(), String(value));
  }

  get(name) {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  has(name) {
    return this.#values.has(name.toLowerCase());
  }

  delete(name) {
    this.#values.delete(name.toLowerCase());
  }

  entries() {
    return this.#values.entries();
  }

  [Symbol.iterator]() {
    return this.entries();
  }
}

/** Only ever stands to the right of `instanceof`. */
export class FormData {}
export class Response {}
export class Request {}
