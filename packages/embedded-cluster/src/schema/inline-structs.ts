/** Which fields of Kubernetes' types are structs by value, hence part of every object. The definitions do not say. */

/** Field names by definition; each is present, if only as `{}`, wherever its parent is. */
export const inlineStructs: Readonly<Record<string, readonly string[]>> = {}
