/** Forms of stores ask for values that the chart has. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findClientBinary, renderChart } from '@reeve/client-binaries'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { mergeValues, type Values } from '../src/merge-values.ts'
import { chartFolder } from '../src/operator-files.ts'
import { googleMarketplaceSchema } from '../src/stores/google-marketplace.ts'

const chart = chartFolder('dynatrace')
const helm = await findClientBinary('helm')

interface Property {
  readonly type: string
  readonly enum?: readonly string[]
  readonly default: unknown
}

/** `{ a: { b: value } }` for `a.b`. */
const nested = (path: string, value: unknown): Values =>
  path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Values

const render = (values: Values) =>
  renderChart(chart, {
    helm: helm ?? '',
    release: 'dynatrace-operator',
    namespace: 'dynatrace',
    values: { ...values, installCRD: false },
  })

/** Values other than the defaults, all of which the chart has to accept. */
function changed(settings: readonly { path: string; type: string; options?: readonly string[]; default: unknown }[]) {
  const paths = settings.filter(({ path }) => path !== 'installCRD')
  return paths
    .map(({ path, type, options, default: value }) =>
      nested(path, type === 'boolean' ? !value : (options?.find((option) => option !== value) ?? `${value}/other`)),
    )
    .reduce(mergeValues)
}

describe.skipIf(helm === undefined)('forms of stores (skipped without helm)', () => {
  it('ask in Rancher for values that exist, with the defaults of the chart', async () => {
    const { questions } = parse(await readFile(join(chart, 'questions.yaml'), 'utf8'))
    const values = parse(await readFile(join(chart, 'values.yaml'), 'utf8'))
    expect(questions.length).toBeGreaterThan(20)
    for (const { variable, default: value, type, options, description, label, group } of questions) {
      const found = variable.split('.').reduce((inner: Values, key: string) => inner[key], values)
      expect(found, variable).toEqual(value)
      expect(['boolean', 'string', 'enum']).toContain(type)
      if (type === 'enum') expect(options).toContain(value)
      expect([description, label, group].map(Boolean)).toEqual([true, true, true])
    }
    const settings = questions.map(({ variable, ...rest }: { variable: string }) => ({ path: variable, ...rest }))
    const { objects } = await render(changed(settings))
    expect(objects.map(({ kind }) => kind)).not.toContain('DaemonSet')
  })

  it('ask in the marketplace of Google for values that exist, and set image and platform', async () => {
    const schema = parse(googleMarketplaceSchema(chart))
    const { images, schemaVersion, publishedVersion } = schema['x-google-marketplace']
    expect({ schemaVersion, publishedVersion }).toEqual({ schemaVersion: 'v2', publishedVersion: '0.1.0' })
    expect(schema.required.filter((name: string) => !(name in schema.properties))).toEqual([])
    const { name, namespace, platform, ...properties } = schema.properties
    expect([name, namespace].map((one) => one['x-google-marketplace'].type)).toEqual(['NAME', 'NAMESPACE'])
    const settings = Object.entries<Property>(properties).map(([path, { enum: options, ...property }]) => ({
      path,
      ...property,
      ...(options && { options }),
    }))
    const image = Object.entries<{ type: string }>(images[''].properties).map(([path, { type }]) =>
      nested(path, type === 'TAG' ? '1.2' : 'registry.example.com/copy'),
    )
    const values = [changed(settings), ...image, { platform: platform.default }].reduce(mergeValues)
    const { objects } = await render(values)
    expect(objects.map(({ kind }) => kind)).toContain('Application')
    expect(JSON.stringify(objects)).toContain('"image":"registry.example.com/copy:1.2"')
  })
})
