/** What the real OpenTelemetry collector says to the configurations that the operator generates for it. */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DynaKubeSpec } from '../../src/api/latest.ts'
import { dynakube } from '../../src/api/testing/build.ts'
import { CONFIG_FILE } from '../../src/controllers/dynakube/components/otel-collector/names.ts'
import { PROTOCOLS } from '../../src/controllers/dynakube/components/otel-collector/protocols.ts'
import { collectorConfigData } from '../../src/controllers/dynakube/components/otel-collector/telemetry-ingest.ts'

const collector = process.env.REEVE_OTEL_COLLECTOR
const reason = collector === undefined ? ' (skipped: `REEVE_OTEL=1 npm run test:real` builds the collector)' : ''

/** What the pods of a collector have in their tenant. */
const VARIABLES = {
  MY_POD_IP: '10.0.0.1',
  DT_ENDPOINT: 'https://tenant.live.example.com/api/v2/otlp',
  DT_DATA_INGEST_TOKEN: 'token',
  K8S_CLUSTER_UID: 'uid',
  K8S_CLUSTER_NAME: 'cluster',
  DT_ENTITY_KUBERNETES_CLUSTER: 'KUBERNETES_CLUSTER-1',
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reeve-collector-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** What the collector complains about; nothing when the configuration is good. */
async function complaints(configuration: string): Promise<string> {
  const path = join(folder, 'configuration.yaml')
  await writeFile(path, configuration)
  const child = spawn(collector ?? '', ['validate', `--config=file:${path}`], {
    env: VARIABLES,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  const [said, code] = await Promise.all([text(child.stderr), ended])
  return code === 0 ? '' : said
}

const configurationOf = (spec: Partial<DynaKubeSpec>): string =>
  collectorConfigData(dynakube({ telemetryIngest: {}, ...spec }))[CONFIG_FILE] ?? ''

const NAMES = Object.keys(PROTOCOLS)

/** Every choice of protocols: the bits of a number say which ones. */
const CHOICES = Array.from({ length: 2 ** NAMES.length }, (_, bits) =>
  NAMES.filter((_name, bit) => Math.floor(bits / 2 ** bit) % 2 === 1),
)

const ROUTES: readonly (readonly [string, Partial<DynaKubeSpec>])[] = [
  ['to the tenant', {}],
  ['to a tenant with a private certificate', { trustedCAs: 'certificates' }],
  ['to a gateway', { activeGate: { capabilities: ['routing'] } }],
]

describe.skipIf(collector === undefined)(`the real collector${reason}`, () => {
  it.each(CHOICES.map((protocols): [string, string[]] => [protocols.join(', ') || 'all of them, unnamed', protocols]))(
    'takes the configuration for %s',
    async (_, protocols) => {
      expect(await complaints(configurationOf({ telemetryIngest: { protocols } }))).toBe('')
    },
  )

  it.each(ROUTES)('takes the configuration for data that goes %s', async (_, route) => {
    expect(await complaints(configurationOf(route))).toBe('')
    expect(await complaints(configurationOf({ ...route, telemetryIngest: { tlsRefName: 'tls' } }))).toBe('')
  })

  it.each([
    ['a setting that does not exist', 'check_interval', 'chek_interval'],
    ['a function that does not exist', 'delete_key(', 'remove_key('],
    ['an unknown processor', 'batch/traces:', 'batch/tracks:'],
  ])('would notice %s', async (_, right, wrong) => {
    const configuration = configurationOf({})
    expect(configuration).toContain(right)
    expect(await complaints(configuration.replace(right, wrong))).not.toBe('')
  })
})
