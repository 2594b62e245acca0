/** Values files and releases of other versions, and of other charts of the operator. */
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { UnknownObject } from '@reeve/kube'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { CHART, helmPath, parseObjects, renderChart, template } from '../support/render-chart.ts'
import { deploymentOf, find } from './support/find.ts'
import { NAMESPACE } from './support/render.ts'
import { containersOf, type Resources, resourcesOf } from './support/resources.ts'

type Values = { [key: string]: unknown }
const isGroup = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What a null in a values file takes away. Where it is missing there is none: a chart cannot tell that from one never set. */
const OPTIONAL = new Set([
  ...['limits', 'requests', 'resources'],
  ...['podSecurityContext', 'securityContext', 'tolerations', 'updateStrategy'],
])

/** The paths of all values, such as `webhook` and `webhook.ports.server`. */
function pathsOf(values: Values, parents: readonly string[] = []): readonly (readonly string[])[] {
  return Object.entries(values).flatMap(([key, value]) => {
    const path = [...parents, key]
    return [path, ...(isGroup(value) ? pathsOf(value, path) : [])]
  })
}

/** Sets the value at a path, or deletes it. A path whose parent is gone is ignored. */
function change(values: Values, [key = '', ...rest]: readonly string[], value: unknown): void {
  const group = values[key]
  if (rest.length > 0) isGroup(group) && change(group, rest, value)
  else if (value === undefined) delete values[key]
  else values[key] = value
}

describe.skipIf(helmPath === undefined)('values of the chart (skipped without helm)', () => {
  let folder: string
  /** The chart without its CRDs, which are most of its size. */
  let bare: string
  /** The same with other values. */
  let reusing: string
  let defaults: string
  let printed: string
  let all: readonly UnknownObject[]
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'reeve-values-'))
    bare = join(folder, 'bare')
    reusing = join(folder, 'reusing')
    for (const chart of [bare, reusing]) {
      await cp(CHART, chart, { recursive: true, filter: (path) => !path.endsWith('crds') })
    }
    defaults = await readFile(join(CHART, 'values.yaml'), 'utf8')
    printed = await template(CHART, ['-n', NAMESPACE, '--set', 'installCRD=false'])
    all = parseObjects(printed)
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Prints the chart as `helm upgrade --reuse-values` does: with the values of the release instead of its own defaults. */
  async function printReusing(values: Values, sets: readonly string[] = []): Promise<string> {
    await writeFile(join(reusing, 'values.yaml'), stringify(values))
    const args = ['installCRD=false', ...sets].flatMap((value) => ['--set', value])
    return template(reusing, ['-n', NAMESPACE, ...args])
  }

  /** Renders the chart with a values file. */
  async function renderWith(values: object): Promise<readonly UnknownObject[]> {
    const file = join(await mkdtemp(join(folder, 'file-')), 'values.yaml')
    await writeFile(file, stringify(values))
    return parseObjects(await template(bare, ['-n', NAMESPACE, '--set', 'installCRD=false', '-f', file]))
  }

  /** The Deployments of the operator with each of these values, by one run of helm: a chart with so many aliases of ours. */
  async function operatorsWith(variants: readonly object[]): Promise<readonly (readonly UnknownObject[])[]> {
    const parent = await mkdtemp(join(folder, 'parent-'))
    const name = 'dynatrace-operator'
    const isNeeded = (path: string) => !/templates\/.*\.yaml$/.test(path) || path.includes('/operator/deployment')
    await cp(bare, join(parent, 'charts', name), { recursive: true, filter: isNeeded })
    const dependencies = variants.map((_, index) => ({ name, version: '*', alias: `variant-${index}` }))
    const chart = { apiVersion: 'v2', name: 'parent', version: '1.0.0', dependencies }
    await writeFile(join(parent, 'Chart.yaml'), stringify(chart))
    const values = Object.fromEntries(variants.map((variant, index) => [`variant-${index}`, variant]))
    await writeFile(join(parent, 'values.yaml'), stringify(values))
    const text = await template(parent, ['-n', NAMESPACE])
    const parts = text.split(/^# Source: parent\/charts\/variant-/m)
    return variants.map((_, index) =>
      parts.flatMap((part) => (part.startsWith(`${index}/`) ? parseObjects(part.slice(part.indexOf('\n'))) : [])),
    )
  }

  describe('that a release does not have, because another chart or version installed it', () => {
    it('have their defaults, all of them if need be', async () => {
      expect(await printReusing({})).toBe(printed)
    })

    it('have their defaults one by one, be they missing or null', async () => {
      const paths = pathsOf(parse(defaults)).filter((path) => !path.some((key) => OPTIONAL.has(key)))
      const changes = fc.array(fc.tuple(fc.constantFrom(...paths), fc.constantFrom(undefined, null)), { minLength: 40 })
      await fc.assert(
        fc.asyncProperty(changes, async (changed) => {
          const values: Values = parse(defaults)
          for (const [path, value] of changed) change(values, path, value)
          expect(await printReusing(values)).toBe(printed)
        }),
        { numRuns: 5 },
      )
    })

    it('never fail the rendering, whatever is null', async () => {
      const paths = pathsOf(parse(defaults)).filter((path) => !path.includes('installCRD'))
      await fc.assert(
        fc.asyncProperty(fc.array(fc.constantFrom(...paths), { minLength: 40 }), async (nulls) => {
          const values: Values = parse(defaults)
          for (const path of nulls) change(values, path, null)
          const containers = containersOf(parseObjects(await printReusing(values, ['csidriver.separateSidecars=true'])))
          for (const { resources } of containers.values()) expect(JSON.stringify(resources)).not.toContain('null')
        }),
        { numRuns: 5 },
      )
    })

    it('are those of the release where it has them', async () => {
      const text = await printReusing({
        debugLogs: true,
        operator: { limits: { memory: '512Mi' }, labels: [] },
        rbac: { kspm: { create: false } },
        webhook: { highAvailability: false, ports: { server: 9443 } },
      })
      const objects = parseObjects(text)
      const { container, env } = deploymentOf(objects, 'dynatrace-operator')
      expect(container?.resources).toEqual({ limits: { memory: '512Mi' } })
      expect(env).toMatchObject({ LOG_LEVEL: 'debug', NODE_OPTIONS: '--max-old-space-size=308' })
      expect(env['modules.json']).toContain('"kspm": false')
      expect(env['modules.json']).toContain('"activeGate": true')
      const webhook = deploymentOf(objects, 'dynatrace-webhook')
      expect(webhook.deployment?.spec?.replicas).toBe(1)
      expect(webhook.env).toMatchObject({ WEBHOOK_PORT: '9443', METRICS_BIND_ADDRESS: ':8383' })
    })
  })

  it('include those of older and newer charts of the operator, but no misspelt ones', async () => {
    const older = { csidriver: { maxUnmountedVolumeAge: '7' } }
    const newer = {
      extractCodeModulesImageLinks: false,
      imageRef: { repository: 'example.com/operator', tag: 'v1', digest: 'sha256:ab' },
      operator: { startupProbe: {}, requeueAfter: '', clientCacheCleanupInterval: '' },
      webhook: {
        startupProbe: {},
        replicas: 2,
        topologySpreadConstraints: [],
        podDisruptionBudget: { minAvailable: 1 },
      },
      csidriver: { apparmor: true, migrationMode: false, provisioner: { startupProbe: {} } },
      rbac: { kubeletFineGrainedAuthz: '' },
    }
    await expect(renderWith(older)).resolves.toEqual(all)
    const rendered = await renderWith(newer)
    const driver = find(rendered, 'DaemonSet', 'dynatrace-oneagent-csi-driver')
    expect(JSON.stringify(driver)).toContain('"appArmorProfile":{"type":"RuntimeDefault"}')
    const { container, env } = deploymentOf(rendered, 'dynatrace-operator')
    expect(container?.image).toBe('example.com/operator@sha256:ab')
    expect(env.DT_OPERATOR_IMAGE).toBe(container?.image)
    await expect(renderWith({ csidriver: { migrationMode: true } })).rejects.toThrow('/csidriver/migrationMode')
    await expect(renderWith({ operator: { limit: {} } })).rejects.toThrow("additional properties 'limit' not allowed")
  })

  describe('that switch something', () => {
    it('may be texts, as by --set-string', async () => {
      const texts = (values: Values): Values =>
        Object.fromEntries(
          Object.entries(values).flatMap(([key, value]): [string, unknown][] => {
            if (OPTIONAL.has(key) || Array.isArray(value)) return []
            if (isGroup(value)) return [[key, texts(value)]]
            return typeof value === 'boolean' ? [[key, String(value)]] : []
          }),
        )
      const values = texts(parse(defaults))
      expect(values).toMatchObject({ debugLogs: 'false', installCRD: 'true', webhook: { highAvailability: 'true' } })
      expect(await renderWith({ ...values, installCRD: undefined })).toEqual(all)
      const { env } = deploymentOf(await renderWith({ debugLogs: 'true' }), 'dynatrace-operator')
      expect(env.LOG_LEVEL).toBe('debug')
      const single = await renderWith({ webhook: { highAvailability: 'false' } })
      expect(find(single, 'PodDisruptionBudget', 'dynatrace-webhook')).toBeUndefined()
    })

    it('are no other texts, nor "false" where it would delete the CRDs of a release', async () => {
      await expect(renderWith({ debugLogs: 'perhaps' })).rejects.toThrow('/debugLogs')
      // Other charts of the operator install them with any text.
      await expect(renderChart(NAMESPACE, [], ['--set-string=installCRD=false'])).rejects.toThrow('/installCRD')
    })
  })

  describe('of memory and CPU', () => {
    /** Sets the resources of every container alike. */
    const everywhere = (resources: Resources) => {
      const container = { resources }
      const names = ['csiInit', 'server', 'provisioner', 'registrar', 'livenessprobe', 'job']
      const csidriver = { separateSidecars: true, ...Object.fromEntries(names.map((name) => [name, container])) }
      return renderWith({ operator: resources, webhook: resources, csidriver })
    }

    it('lower our requests to a limit that is set alone', async () => {
      const resources = resourcesOf(await everywhere({ limits: { cpu: '10m', memory: '29Mi' } }))
      const ours = { requests: { cpu: '10m', memory: '29Mi' }, limits: { cpu: '10m', memory: '29Mi' } }
      // What is set for these replaces everything.
      const replaced = { limits: ours.limits }
      expect(resources).toEqual({
        operator: ours,
        'crd-storage-migration': ours,
        webhook: ours,
        'csi-init': ours,
        server: ours,
        provisioner: ours,
        job: ours,
        registrar: replaced,
        'liveness-probe': replaced,
      })
    })

    it('raise our limits to a request that is set alone; other charts do not limit the provisioner', async () => {
      const requests = { cpu: '2', memory: '1Gi' }
      const resources = resourcesOf(await everywhere({ requests }))
      const ours = { requests, limits: requests }
      expect(resources).toEqual({
        operator: ours,
        'crd-storage-migration': ours,
        webhook: ours,
        'csi-init': ours,
        server: ours,
        provisioner: { requests },
        job: { requests },
        registrar: { requests },
        'liveness-probe': { requests },
      })
    })

    it('keep ours where they fit, and are none where null takes them away', async () => {
      const resources = resourcesOf(
        await renderWith({
          operator: { limits: { memory: '1Gi' } },
          webhook: { requests: null, limits: { cpu: null } },
          csidriver: { provisioner: { resources: { requests: { memory: '100Mi' } } }, server: { resources: null } },
        }),
      )
      expect(resources).toMatchObject({
        operator: { requests: { cpu: '50m', memory: '160Mi' }, limits: { cpu: '500m', memory: '1Gi' } },
        webhook: { limits: { memory: '256Mi' } },
        provisioner: { requests: { cpu: '300m', memory: '100Mi' }, limits: { memory: '256Mi' } },
      })
      expect(resources.webhook).toEqual({ limits: { memory: '256Mi' } })
      expect(resources.server).toEqual({})
    })

    it('compare a limit whatever its notation, and bound the heap by it', async () => {
      // The limit, the request beside it, and the heap in MiB.
      const notations = [
        ['100Mi', '100Mi', 60],
        ['100M', '100M', 58],
        ['102400Ki', '102400Ki', 60],
        ['0.1G', '0.1G', 58],
        ['104857600', '104857600', 60],
        [104_857_600, 104_857_600, 60],
        ['1e8', '1e8', 58],
        ['1E+8', '1E+8', 58],
        ['104857600000m', '104857600000m', 60],
        ['160Mi', '160Mi', 96],
        ['167772160', '160Mi', 96],
        ['1Ti', '160Mi', 629_146],
        ['1E', '160Mi', 572_204_589_844],
      ] as const
      const rendered = await operatorsWith(notations.map(([memory]) => ({ operator: { limits: { memory } } })))
      const found = rendered.map((objects, index) => {
        const { container, env } = deploymentOf(objects, 'dynatrace-operator')
        return [notations[index]?.[0], container?.resources?.requests?.memory, env.NODE_OPTIONS]
      })
      expect(found).toEqual(notations.map(([limit, request, heap]) => [limit, request, `--max-old-space-size=${heap}`]))
    })

    it('bound the heap by the raised limit, and not by one of 0 or none', async () => {
      const heap = async (operator: Resources) =>
        deploymentOf(await renderWith({ operator }), 'dynatrace-operator').env.NODE_OPTIONS
      expect(await heap({ requests: { memory: '500Mi' } })).toBe('--max-old-space-size=300')
      expect(await heap({ limits: { memory: 0 } })).toBeUndefined()
      const csi = await renderWith({ csidriver: { provisioner: { resources: { requests: { memory: '300Mi' } } } } })
      const options = containersOf(csi)
        .get('provisioner')
        ?.env?.find(({ name }) => name === 'NODE_OPTIONS')
      expect(options?.value).toBe('--max-semi-space-size=2')
    })

    it('fail with the remedy where both are set and contradict each other', async () => {
      await expect(
        renderWith({ webhook: { requests: { memory: '300Mi' }, limits: { memory: '200Mi' } } }),
      ).rejects.toThrow(
        'webhook.requests.memory is 300Mi, which is more than webhook.limits.memory of 200Mi: lower the request or raise the limit',
      )
      await expect(renderWith({ operator: { limits: { memory: '1 GiB' } } })).rejects.toThrow('/operator/limits/memory')
    })
  })
})
