/** Folders that still import each other. Nothing is added here: each entry goes when its circle is untangled. */
export const KNOWN_CYCLES: readonly (readonly string[])[] = []
