/** `dynatrace-operator plan --offline`: no cluster, no network, the same result every time. */
import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { runCli } from '../../src/cli/testing/run-cli.ts'

const sample = (path: string) => fileURLToPath(new URL(`../../samples/${path}`, import.meta.url))

const TOKENS = { apiToken: 'dt0c01.GIVEN.SECRETPART', dataIngestToken: 'dt0c01.INGEST.SECRETPART' }

const SECRET = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'dynakube', namespace: 'dynatrace' },
  stringData: TOKENS,
}

const dynakube = (spec: object) => ({
  apiVersion: 'dynatrace.com/v1beta6',
  kind: 'DynaKube',
  metadata: { name: 'dynakube', namespace: 'dynatrace' },
  spec: { apiUrl: 'https://abc12345.live.dynatrace.com/api', ...spec },
})

const GATEWAY = { activeGate: { capabilities: ['routing'], resources: { limits: { memory: '1Gi' } } } }
const AGENT = { oneAgent: { hostMonitoring: {} } }

const POSTURE = {
  activeGate: { ...GATEWAY.activeGate, capabilities: ['kubernetes-monitoring'] },
  kspm: { mappedHostPaths: ['/etc'] },
  templates: { kspmNodeConfigurationCollector: { imageRef: { repository: 'registry.example.com/ncc', tag: '1' } } },
}

const offline = (objects: readonly object[], ...args: readonly string[]) =>
  runCli(['plan', '-f', '-', '--offline', ...args], { stdin: objects.map((one) => stringify(one)).join('---\n') })

interface Printed {
  readonly formatVersion: number
  readonly summary: Readonly<Record<string, number>>
  readonly changes: readonly {
    readonly action: string
    readonly component: string
    readonly kind: string
    readonly name: string
    readonly manifest?: { readonly data?: unknown }
  }[]
  readonly tenant: readonly unknown[]
  readonly findings: readonly { readonly severity: string; readonly message: string }[]
}

const names = ({ changes }: Printed, action: string) =>
  changes.filter((change) => change.action === action).map(({ kind, name }) => `${kind}/${name}`)

describe('a plan without a cluster', () => {
  it('shows what would be created, by component, and ends with exit code 2', async () => {
    const { code, stdout, stderr } = await offline([dynakube({ ...GATEWAY, ...AGENT })])
    expect([code, stderr]).toEqual([2, ''])
    expect(stdout).toContain('  OneAgent\n    + ConfigMap    dynatrace/dynakube-oneagent-connection-info\n')
    expect(stdout).toContain('    + StatefulSet  dynatrace/dynakube-activegate\n')
    expect(stdout).toContain('in the tenant\n    + ActiveGate token dynakube  (abc12345.live.dynatrace.com)\n')
    expect(stdout).toContain('credentials in dynatrace/dynakube are taken for granted')
    expect(stdout).toMatch(/\nPlan: \d+ to create, 0 to change, 0 to remove, 1 in the tenant\.\n$/)
  })

  it('is the same every time', async () => {
    const objects = [dynakube({ ...GATEWAY, ...AGENT, logMonitoring: {}, metadataEnrichment: { enabled: true } })]
    const [first, second] = [await offline(objects, '-o', 'json'), await offline(objects, '-o', 'json')]
    expect(first.stdout).toBe(second.stdout)
  })

  it('prints the same as JSON and as YAML', async () => {
    const objects = [dynakube(AGENT)]
    const [json, yaml] = [await offline(objects, '-o', 'json'), await offline(objects, '-o', 'yaml')]
    const printed: Printed = JSON.parse(json.stdout)
    expect(parse(yaml.stdout)).toEqual(printed)
    expect([json.code, yaml.code]).toEqual([2, 2])
    expect(printed.formatVersion).toBe(1)
    expect(Object.keys(printed)).toEqual(['formatVersion', 'summary', 'resources', 'changes', 'tenant', 'findings'])
    expect(printed.changes.find(({ kind }) => kind === 'DaemonSet')).toMatchObject({
      action: 'create',
      component: 'OneAgent',
      owner: 'DynaKube dynatrace/dynakube',
      apiVersion: 'apps/v1',
      namespace: 'dynatrace',
      name: 'dynakube-oneagent',
      fields: [],
      manifest: { metadata: { name: 'dynakube-oneagent' } },
    })
  })

  it('never prints the data of a Secret', async () => {
    const objects = [SECRET, dynakube({ ...AGENT, ...POSTURE })]
    for (const args of [['--full'], ['-o', 'json'], ['-o', 'yaml']]) {
      const { stdout } = await offline(objects, ...args)
      for (const value of Object.values(TOKENS)) {
        expect(stdout).not.toContain(value)
        expect(stdout).not.toContain(value.split('.').at(-1))
        expect(stdout).not.toContain(Buffer.from(value).toString('base64'))
      }
      expect(stdout).toContain('(sensitive)')
    }
    const { changes }: Printed = JSON.parse((await offline(objects, '-o', 'json')).stdout)
    const secrets = changes.filter(({ kind }) => kind === 'Secret')
    expect(secrets.length).toBeGreaterThan(5)
    for (const { manifest } of secrets) {
      expect(new Set(Object.values(manifest?.data ?? {}))).toEqual(new Set(['(sensitive)']))
    }
  })

  it('plans EdgeConnects, and shows what would be created for them', async () => {
    const { code, stdout } = await runCli([
      'plan',
      '--offline',
      '-o',
      'json',
      '-f',
      sample('edgeconnect/v1alpha2/automation-workflows.yaml'),
    ])
    const printed: Printed = JSON.parse(stdout)
    expect(code).toBe(2)
    expect(names(printed, 'create')).toEqual([
      'EdgeConnect/edgeconnect',
      'Deployment/edgeconnect',
      'Secret/edgeconnect-client',
      'Secret/edgeconnect-ec-yaml',
    ])
    expect(printed.tenant).toEqual([
      {
        action: 'create',
        what: 'EdgeConnect edgeconnect and its OAuth client',
        tenant: 'environmentid.apps.dynatrace.com',
      },
      {
        action: 'create',
        what: 'setting app:dynatrace.kubernetes.connector:connection "edgeconnect"',
        tenant: 'environmentid.apps.dynatrace.com',
      },
    ])
    expect(printed.findings.map(({ message }) => message)).toContainEqual(expect.stringMatching(/^skipped/))
  })

  it('creates namespaces of the files, and assumes that others exist', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'dynatrace' } }
    const [given, implied] = [await offline([namespace, dynakube(AGENT)]), await offline([dynakube(AGENT)])]
    expect(given.stdout).toContain('    + Namespace  dynatrace\n')
    expect(implied.stdout).not.toContain('Namespace')
  })

  it('has one tenant for resources with different tokens', async () => {
    const secret = (name: string) => ({
      ...SECRET,
      metadata: { ...SECRET.metadata, name },
      stringData: { apiToken: name },
    })
    const named = (name: string) => ({ ...dynakube(GATEWAY), metadata: { name, namespace: 'dynatrace' } })
    const { code, stdout } = await offline(['one', 'two'].flatMap((name) => [secret(name), named(name)]))
    expect([code, stdout]).toEqual([2, expect.stringContaining('StatefulSet  dynatrace/two-activegate')])
    expect(stdout).toContain('StatefulSet  dynatrace/one-activegate')
  })

  it('assumes Istio where a DynaKube enables it', async () => {
    const { code, stdout } = await offline([dynakube({ ...GATEWAY, enableIstio: true })], '-o', 'json')
    expect(code).toBe(2)
    const kinds = new Set((JSON.parse(stdout) as Printed).changes.map(({ kind }) => kind))
    expect([...kinds]).toEqual(expect.arrayContaining(['ServiceEntry', 'VirtualService']))
  })

  it('reads older versions, and several resources together', async () => {
    for (const file of ['dynakube/v1beta4/cloud-native-full-stack.yaml', 'dynakube/v1beta5/multiple-dynakubes.yaml']) {
      const stdin = (await readFile(sample(file), 'utf8')).replaceAll('ENVIRONMENTID', 'abc12345')
      const { code, stdout } = await runCli(['plan', '--offline', '-f', '-'], { stdin })
      expect([file, code, stdout]).toEqual([file, 2, expect.stringContaining('+ DaemonSet')])
    }
  })
})

describe('a plan against the state of a cluster in files', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'plan-'))
    await writeFile(join(folder, 'notes.txt'), 'no manifest')
    await writeFile(join(folder, 'dynakube.yaml'), stringify(dynakube({ ...GATEWAY, ...AGENT })))
    await writeFile(
      join(folder, 'objects.json'),
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [
          SECRET_STORED,
          { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'other', namespace: 'dynatrace' } },
        ],
      }),
    )
  })

  it('contains only missing objects', async () => {
    const { stdout, code } = await offline([dynakube({ ...GATEWAY, ...AGENT })], '--against', folder, '-o', 'json')
    expect(code).toBe(2)
    const printed: Printed = JSON.parse(stdout)
    expect(names(printed, 'create')).not.toContain('DynaKube/dynakube')
    expect(names(printed, 'create')).toContain('DaemonSet/dynakube-oneagent')
    expect(printed.findings.map(({ message }) => message)).toContain('the tenant is simulated: versions are examples')
  })

  it('refuses a change that admission would refuse', async () => {
    const moved = dynakube({ ...AGENT, apiUrl: 'https://other.live.dynatrace.com/api' })
    const { stdout, code } = await offline([moved], '--against', folder)
    expect(code).toBe(1)
    expect(stdout).toMatch(/^<stdin>:7:3: error: .*spec\.apiUrl is immutable.*\[DK-URL-IMMUTABLE\]$/m)
  })

  it('needs --offline', async () => {
    const { code, stderr } = await runCli(['plan', '-f', '-', '--against', folder], { stdin: '' })
    expect([code, stderr]).toEqual([64, expect.stringContaining('--against stands for a cluster and needs --offline')])
  })

  it('names a file that cannot be read', async () => {
    const broken = join(folder, 'broken.yaml')
    await writeFile(broken, 'a: [')
    const { code, stderr } = await offline([dynakube(AGENT)], '--against', broken)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`--against ${broken}:1:`)])
  })
})

const SECRET_STORED = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'dynakube', namespace: 'dynatrace' },
  data: Object.fromEntries(Object.entries(TOKENS).map(([key, value]) => [key, Buffer.from(value).toString('base64')])),
}

describe('a plan for something that cannot be planned', () => {
  it('names the field and the remedy, and ends with exit code 1', async () => {
    const { code, stdout } = await offline([dynakube({ ...AGENT, apiUrl: 'https://abc12345.live.dynatrace.com' })])
    expect(code).toBe(1)
    expect(stdout).toMatch(/^<stdin>:7:3: error: DynaKube dynatrace\/dynakube: spec\.apiUrl: .*must end in \/api/m)
    expect(stdout).not.toContain('to create')
  })

  it('says that there is nothing to plan for', async () => {
    const { code, stdout } = await offline([SECRET])
    expect([code, stdout]).toEqual([1, expect.stringContaining('the files contain no DynaKube and no EdgeConnect')])
  })

  it('names invalid YAML and documents that are not objects', async () => {
    const broken = await runCli(['plan', '-f', '-', '--offline'], { stdin: 'a: [' })
    expect([broken.code, broken.stdout]).toEqual([1, expect.stringMatching(/^<stdin>:1:\d+: error: /)])
    const other = await runCli(['plan', '-f', '-', '--offline'], { stdin: 'colour: blue' })
    expect([other.code, other.stdout]).toEqual([1, expect.stringContaining('is not a Kubernetes object')])
  })

  it('names a missing file', async () => {
    const { code, stderr } = await runCli(['plan', '-f', '/nowhere.yaml', '--offline'])
    expect([code, stderr]).toEqual([1, expect.stringContaining('/nowhere.yaml')])
  })

  it('shows what the operator would report as an error', async () => {
    const { code, stdout } = await offline([dynakube({ ...AGENT, trustedCAs: 'authorities' })])
    expect(code).toBe(1)
    expect(stdout).toContain('error: DynaKube dynatrace/dynakube: spec.trustedCAs: the ConfigMap dynatrace/authorities')
  })
})

describe('the help', () => {
  it('has examples and exit codes', async () => {
    const { code, stdout } = await runCli(['help', 'plan'])
    expect(code).toBe(0)
    expect(stdout).toContain('dynatrace-operator plan -f dynakube.yaml --offline')
    expect(stdout).toMatch(/2\s+there are changes to make/)
  })
})
