/** The operator is killed, with SIGKILL and in the middle of its work, and started again. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readReleases } from '@reeve/helm'
import { ConfigMaps, Deployments, isNotFound, Namespaces } from '@reeve/kube'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { stringify } from 'yaml'
import { type OperatorProcess, startCommand } from './support/operator-process.ts'
import { helmPath, type Stage, setStage, settingsFor } from './support/stage.ts'
import { Tenants } from './support/tenants.ts'

/** A hook that does not complete until the ConfigMap `go` exists: Helm stays in the middle of its operation. */
const HOLD = `{{- if and .Values.pipeline.hold (not (lookup "v1" "ConfigMap" .Release.Namespace "go")) }}
apiVersion: batch/v1
kind: Job
metadata:
  name: {{ .Release.Name }}-hold
  annotations:
    helm.sh/hook: pre-install,pre-upgrade
    helm.sh/hook-delete-policy: before-hook-creation
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: hold, image: nginx}]
{{- end }}
`

/** Helm times out after 80 % of it; a pending revision is recovered 10 s after it. */
const HELM_TIMEOUT_SECONDS = 8

const TIMEOUT_MS = 240_000

describe.skipIf(helmPath === undefined)('an operator that is killed (skipped without helm)', () => {
  let stage: Stage
  let tenants: Tenants
  let settings: string
  let operator: OperatorProcess

  beforeAll(async () => {
    stage = await setStage()
    tenants = new Tenants(stage, 'slow')
    await stage.addChart('slow', HOLD)
    settings = join(stage.charts, 'settings.yaml')
    await writeFile(settings, stringify(settingsFor({ development: { type: 'directory', location: stage.charts } })))
    start()
  })
  afterAll(async () => {
    await operator?.killAll()
    await stage?.close()
  })

  function start(): void {
    const limits = ['--health-port=0', `--helm-timeout=${HELM_TIMEOUT_SECONDS}`]
    const namespaces = [`--namespace=${stage.namespace}`, `--admin-namespaces=${stage.namespace}`]
    operator = startCommand(stage, ['run', `--settings=${settings}`, ...namespaces, ...limits])
  }

  async function untilNewest(name: string, status: string): Promise<void> {
    await stage.until(async () => (await tenants.statuses(name)).at(-1) === status)
  }

  async function letGo(name: string): Promise<void> {
    const { namespace } = tenants.releaseOf(name)
    await stage.client.create(ConfigMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'go', namespace } })
  }

  /** What helm shows: one deployed release, as the status says. */
  async function expectOneRelease(name: string): Promise<void> {
    const { namespace, name: release } = tenants.releaseOf(name)
    const { status } = await tenants.get(name)
    expect(await stage.helm.list({ namespace })).toMatchObject([
      { name: release, status: 'deployed', revision: status?.revision, chart: status?.chart },
    ])
    const deployed = (await tenants.statuses(name)).filter((state) => state === 'deployed')
    expect(deployed).toHaveLength(1)
  }

  test(
    'together with its helm, in an install and in an upgrade, completes both after its restart',
    async () => {
      await tenants.create('upgrade', 'replicas: 0')
      await stage.untilPhase('upgrade', 'Available', 1)
      await tenants.configure('upgrade', 'replicas: 0\npipeline: {hold: true}')
      await tenants.create('install', 'replicas: 0\npipeline: {hold: true}')
      await untilNewest('upgrade', 'pending-upgrade')
      await untilNewest('install', 'pending-install')
      await operator.killAll()
      await letGo('upgrade')
      await letGo('install')
      start()
      await stage.untilPhase('install', 'Available', 1)
      await stage.untilPhase('upgrade', 'Available')
      for (const name of ['install', 'upgrade']) await expectOneRelease(name)
      expect(await stage.helm.values(tenants.releaseOf('upgrade'))).toMatchObject({ pipeline: { hold: true } })
    },
    TIMEOUT_MS,
  )

  test(
    'alone, while its helm continues, accepts the result of that',
    async () => {
      await tenants.create('orphan', 'replicas: 0\npipeline: {hold: true}')
      await untilNewest('orphan', 'pending-install')
      await operator.kill()
      await letGo('orphan')
      start()
      // Helm stops waiting for the hook and records the failure; then the operator continues.
      await stage.untilPhase('orphan', 'Available')
      await expectOneRelease('orphan')
    },
    TIMEOUT_MS,
  )

  test(
    'at any other time, continues from there, and cleans up what was deleted meanwhile',
    async () => {
      const moments: readonly (readonly [string, () => Promise<boolean>])[] = [
        ['claimed', async () => (await tenants.get('claimed')).metadata.finalizers !== undefined],
        [
          'namespaced',
          () =>
            stage.client
              .get(Namespaces, { name: tenants.releaseOf('namespaced').namespace })
              .then(() => true, isAbsent),
        ],
        ['recorded', async () => (await readReleases(stage.client, tenants.releaseOf('recorded'))).length > 0],
        ['deployed', async () => (await tenants.statuses('deployed')).at(-1) === 'deployed'],
      ]
      for (const [name, hasCome] of moments) {
        await tenants.create(name, 'replicas: 0')
        await stage.until(hasCome)
        await operator.kill()
        start()
      }
      for (const [name] of moments) {
        await stage.untilPhase(name, 'Available')
        await expectOneRelease(name)
      }
      await operator.kill()
      for (const [name] of moments) await tenants.remove(name)
      start()
      for (const [name] of moments) {
        await stage.until(() => tenants.isGone(name))
        expect(await tenants.statuses(name)).toEqual([])
        await expect(stage.client.get(Deployments, tenants.releaseOf(name))).rejects.toSatisfy(isNotFound)
      }
    },
    TIMEOUT_MS,
  )
})

function isAbsent(error: unknown): boolean {
  if (isNotFound(error)) return false
  throw error
}
