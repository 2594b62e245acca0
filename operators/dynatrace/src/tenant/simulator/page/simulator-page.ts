/** The files of the page, which has the components of the console. */
import type { BoardFile } from '@reeve/console/board'
import type { SimulatedResponse } from '../http/response.ts'
import { Refusal } from '../refusal.ts'

/** Loads its files when somebody opens the page: most simulators run without one. */
export class SimulatorPage {
  readonly #source: string
  #files: Promise<ReadonlyMap<string, BoardFile>> | undefined

  /** @param source the path from which the page reads what it shows */
  constructor(source: string) {
    this.#source = source
  }

  /** *Errors*: {@link Refusal} 404 when there is no such file. */
  async file(path: string): Promise<SimulatedResponse> {
    this.#files ??= import('@reeve/console/board').then(({ loadBoard }) => loadBoard(this.#source))
    const file = (await this.#files).get(path)
    if (file === undefined) throw new Refusal(404, 'There is no such resource.')
    return { status: 200, headers: file.headers, body: file.body }
  }
}
