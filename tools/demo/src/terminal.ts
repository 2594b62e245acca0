/** Lines on a terminal: aligned always, coloured only on a terminal. */

/** Where lines go. `isTTY` decides about colour, unless the user has decided. */
export interface Screen {
  write(line: string): void
  readonly hasColour: boolean
}

const CODES = { dim: 2, bold: 1, green: 32, yellow: 33, red: 31, cyan: 36 } as const

/** A colour, or an emphasis. */
export type Colour = keyof typeof CODES

/**
 * The standard output as a screen. Colour follows the terminal, `NO_COLOR` and `FORCE_COLOR`.
 *
 * @example
 * const screen = standardScreen(process.stdout, process.env)
 */
export function standardScreen(
  stream: { write(text: string): unknown; readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Screen {
  const isForced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0'
  const isRefused = env.NO_COLOR !== undefined && env.NO_COLOR !== ''
  return { write: (line) => stream.write(`${line}\n`), hasColour: isForced || (!isRefused && stream.isTTY === true) }
}

/** `text` in a colour where the screen has any. */
export function paint(screen: Screen, colour: Colour, text: string): string {
  return screen.hasColour && text !== '' ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text
}

/** One event of the story, in columns: when, what, how it stands, why. */
export function storyLine(
  screen: Screen,
  seconds: number,
  subject: string,
  state: { readonly word: string; readonly colour: Colour },
  detail: string,
): string {
  const time = `${seconds.toFixed(1).padStart(6)} s`
  return [
    paint(screen, 'dim', time),
    subject.padEnd(41),
    paint(screen, state.colour, state.word.padEnd(15)),
    paint(screen, 'dim', detail),
  ]
    .join('  ')
    .trimEnd()
}
