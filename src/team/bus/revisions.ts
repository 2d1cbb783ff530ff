/** A record that is changed by compare-and-set: the highest revision is its state. */
export type Revisions<Value> = {
  /** Undefined before the first. Throws a UserError that names the place where it can't be read. */
  latest(): Promise<Value | undefined>;
  /** Throws RevisionConflict when that revision is there already. */
  add(value: Value): Promise<void>;
};
