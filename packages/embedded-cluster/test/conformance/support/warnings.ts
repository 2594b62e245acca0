/** Warnings in a response. */
import type { Reply } from './conformance-api.ts'

/** The texts of all warnings in a response, in order. */
export function warningsOf({ headers }: Reply): string[] {
  return [headers.warning ?? []]
    .flat()
    .flatMap((line) => [...line.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)])
    .map(([, text = '']) => text.replaceAll('\\"', '"').replaceAll('\\\\', '\\'))
}
