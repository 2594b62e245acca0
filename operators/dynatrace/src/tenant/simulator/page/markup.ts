/** HTML in which nothing that came from outside can become markup. */

/** Text that is HTML already. */
export class Markup {
  readonly html: string

  constructor(html: string) {
    this.html = html
  }
}

type Piece = string | number | undefined | Markup | readonly Markup[]

/**
 * Escapes every value but those that are markup already.
 *
 * @example
 * markup`<td>${call.path}</td>`
 */
export function markup(literals: TemplateStringsArray, ...pieces: readonly Piece[]): Markup {
  return new Markup(literals.map((literal, index) => `${literal}${render(pieces[index])}`).join(''))
}

function render(piece: Piece): string {
  if (piece === undefined) return ''
  if (piece instanceof Markup) return piece.html
  if (typeof piece === 'object') return piece.map(({ html }) => html).join('')
  return String(piece).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
