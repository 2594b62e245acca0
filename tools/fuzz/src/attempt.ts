/** Calls a parser and distinguishes its documented errors from crashes. */

/** The result of a parser, or the outcome when it refused the input. */
export type Attempt<T> = { readonly value: T } | { readonly refusal: string }

/** Long enough to distinguish the messages of one parser. */
const MAX_OUTCOME_LENGTH = 120

/**
 * Calls `parse`. Errors that `isRefusal` accepts become an outcome; all others are crashes and are rethrown.
 *
 * @example
 * const parsed = attempt(() => parseQuantity(text), isA(QuantityError))
 */
export function attempt<T>(parse: () => T, isRefusal: (error: unknown) => boolean): Attempt<T> {
  try {
    return { value: parse() }
  } catch (error) {
    return refused(error, isRefusal)
  }
}

/**
 * As {@link attempt}, for parsers that return a promise.
 *
 * @example
 * const parsed = await attemptAsync(() => parseKubeconfig(text, 'config'), isA(ConfigError))
 */
export async function attemptAsync<T>(
  parse: () => Promise<T>,
  isRefusal: (error: unknown) => boolean,
): Promise<Attempt<T>> {
  try {
    return { value: await parse() }
  } catch (error) {
    return refused(error, isRefusal)
  }
}

/**
 * A test for errors of the given classes.
 *
 * @example
 * attempt(() => parse(text), isA(SyntaxError))
 */
export function isA(...classes: readonly (abstract new (...args: never[]) => Error)[]): (error: unknown) => boolean {
  return (error) => classes.some((one) => error instanceof one)
}

function refused(error: unknown, isRefusal: (error: unknown) => boolean): { readonly refusal: string } {
  if (!isRefusal(error)) throw error
  const { name, code, message } = error as {
    readonly name?: unknown
    readonly code?: unknown
    readonly message?: unknown
  }
  return { refusal: `${String(name)} ${String(code ?? '')} ${messageShape(String(message))}` }
}

/**
 * A message without the parts that come from the input, so that the same complaint counts once.
 *
 * @example
 * messageShape('spec.replicas: got "500", at most 100') // spec.replicas: got "…", at most #
 */
export function messageShape(message: string): string {
  return message
    .slice(0, 4 * MAX_OUTCOME_LENGTH)
    .replace(/"(?:[^"\\]|\\.)*"?|'[^']*'?/g, '"…"')
    .replace(/\d+/g, '#')
    .slice(0, MAX_OUTCOME_LENGTH)
}
