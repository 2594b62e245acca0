/** Values that the build inserts. */
declare const REMEDIES: Readonly<Record<string, { readonly meaning: string; readonly remedy: string }>>
declare module '*.css'
