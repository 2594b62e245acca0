/** Counts in a status, which leaves out what is zero. */

/** `{ [name]: count }`, or nothing for a count of zero or less. */
export function positive<Name extends string>(name: Name, count: number): { readonly [Field in Name]?: number } {
  // A mapped type over one computed name is more than the compiler can check here.
  return (count > 0 ? { [name]: count } : {}) as { readonly [Field in Name]?: number }
}
