/** A key that no chart knows is refused wherever it is, not only at the top. */
import { readFile } from 'node:fs/promises'
import { findClientBinary, renderChart } from '@reeve/client-binaries'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { absolutePath } from '../src/generated-files.ts'

const helm = await findClientBinary('helm')
const MISSPELT = 'misspeltKey'

type Values = Readonly<Record<string, unknown>>

const isMap = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The values with one more key in every map. Its value is a number, which is no label or annotation either. */
function misspelt(values: Values): Values {
  const members = Object.entries(values).map(([key, value]) => [key, isMap(value) ? misspelt(value) : value])
  return { ...Object.fromEntries(members), [MISSPELT]: 1 }
}

/** The paths of all maps, as errors name them. */
function mapsOf(values: Values, path = ''): readonly string[] {
  return [
    path,
    ...Object.entries(values).flatMap(([key, value]) => (isMap(value) ? mapsOf(value, `${path}/${key}`) : [])),
  ]
}

describe.skipIf(helm === undefined).each(['webapp', 'collector', 'dynatrace'])(
  'the chart of %s (skipped without helm)',
  (operator) => {
    it('refuses a misspelt key at every depth', async () => {
      const folder = absolutePath(`operators/${operator}/chart`)
      const values: Values = parse(await readFile(`${folder}/values.yaml`, 'utf8'))
      const options = { helm: helm ?? '', release: operator, namespace: 'ops', values: misspelt(values) }
      const message = await renderChart(folder, options).then(
        () => 'rendered',
        (error: Error) => error.message,
      )
      const missing = mapsOf(values).filter(
        (path) => !message.includes(`at '${path}'`) && !message.includes(`at '${path}/${MISSPELT}'`),
      )
      expect([missing, message.includes(MISSPELT)]).toEqual([[], true])
    })

    it.each([
      ['limits', 'memroy'],
      ['requests', 'cpus'],
    ])('refuses the unknown resource in %s: %s', async (kind, name) => {
      const resources = { [kind]: { [name]: '1' } }
      const values = operator === 'dynatrace' ? { operator: resources } : { resources }
      const options = { helm: helm ?? '', release: operator, namespace: 'ops', values }
      await expect(renderChart(absolutePath(`operators/${operator}/chart`), options)).rejects.toThrow(name)
    })
  },
)
