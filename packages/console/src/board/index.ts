/** @module A page of its own with the look of the console: values and buttons, for servers that are not operators. */
import { loadPage, type PageFile } from '../page/page-files.ts'
import { SECURITY_HEADERS } from '../server/response.ts'

export type { BoardAction, BoardData, BoardField, BoardSection, CellValue, FactsValue, TableValue } from '../wire.ts'

/** A file of a board, with all headers that it has to be served with. */
export interface BoardFile {
  readonly body: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/**
 * The files of a board by path; the page itself is `/`, the others begin with `/main-`. It loads nothing from elsewhere.
 *
 * @param source the path from which the page reads its {@link BoardData} as JSON, again and again
 *
 * @example
 * const { body, headers } = (await loadBoard('/control/board')).get('/')
 */
export async function loadBoard(source: string): Promise<ReadonlyMap<string, BoardFile>> {
  const page = await loadPage()
  const html = page.get('/board.html')
  if (html === undefined) throw new Error('the page of boards is missing from this installation: build it again')
  const body = Buffer.from(html.body.toString('utf8').replace('data-board=""', `data-board="${encodeURI(source)}"`))
  const others = [...page].filter(([path]) => path.startsWith('/main-'))
  return new Map([
    ['/', asBoardFile({ ...html, body })],
    ...others.map(([path, file]) => [path, asBoardFile(file)] as const),
  ])
}

function asBoardFile({ body, contentType, isImmutable }: PageFile): BoardFile {
  const caching = isImmutable ? 'public, max-age=31536000, immutable' : 'no-store'
  return { body, headers: { ...SECURITY_HEADERS, 'cache-control': caching, 'content-type': contentType } }
}
