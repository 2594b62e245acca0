/** Many Collectors together. `REEVE_COLLECTORS=100` makes it a hundred, which takes helm a minute of processor time. */
import { valuesDigest } from '@reeve/helm'
import { Deployments } from '@reeve/kube'
import { createMetricsRegistry, type MetricsRegistry } from '@reeve/runtime/metrics'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Collector } from '../src/index.ts'
import { helmPath, isDryRun, type RunningOperator, type Stage, setStage } from './support/stage.ts'
import { Tenants } from './support/tenants.ts'

const COUNT = Number(process.env.REEVE_COLLECTORS ?? 6)

/** This many are compared with the helm command, one by one. */
const ASKED = 2

const TIMEOUT_MS = 600_000

describe.skipIf(helmPath === undefined)('many Collectors (skipped without helm)', () => {
  let stage: Stage
  let tenants: Tenants
  let operator: RunningOperator
  let metrics: MetricsRegistry

  beforeAll(async () => {
    stage = await setStage()
    tenants = new Tenants(stage)
    metrics = await createMetricsRegistry()
    operator = await stage.startOperator({ metrics })
  })
  afterAll(() => stage?.close())

  test(
    `become available with two helm processes each, one of them a dry run, and helm agrees with their status (${COUNT} of them)`,
    async () => {
      // Two of each tenant, with different instances.
      const written = Array.from({ length: COUNT }, (_, index) => ({
        name: `fleet-${index}`,
        tenant: `t${Math.floor(index / 2)}`,
        instance: index % 2 === 0 ? 'eu1' : 'us1',
      }))
      await Promise.all(
        written.map(({ name, tenant, instance }, index) =>
          tenants.create(name, `replicas: ${index % 3}`, {
            tenant: { reference: tenants.reference(tenant), instance },
          }),
        ),
      )
      const found: Collector[] = []
      for (const { name } of written) found.push(await stage.untilPhase(name, 'Available', 1))
      expect(operator.commands.map(([verb]) => verb)).toEqual(Array(2 * COUNT).fill('install'))
      expect(operator.commands.filter(isDryRun)).toHaveLength(COUNT)

      const releases = (await stage.helm.list()).filter(({ namespace }) =>
        found.some(({ status }) => status?.namespace === namespace),
      )
      expect(releases).toHaveLength(COUNT)
      for (const { status } of found) {
        const { releaseName: name, namespace, revision, chart } = status ?? {}
        expect(releases).toContainEqual(
          expect.objectContaining({ name, namespace, revision, chart, status: 'deployed' }),
        )
      }
      for (const [index, { tenant, instance }] of written.slice(0, ASKED).entries()) {
        const release = tenants.releaseOf(tenant, instance)
        expect(await stage.helm.history(release)).toMatchObject([
          { revision: 1, status: 'deployed', chart: found[index]?.status?.chart },
        ])
        const values = await stage.helm.values(release)
        expect(values).toEqual({ replicas: index % 3 })
        expect(valuesDigest(values)).toBe(found[index]?.status?.valuesDigest)
        expect((await stage.client.get(Deployments, release)).status?.availableReplicas ?? 0).toBe(index % 3)
      }
      expect(operator.commands).toHaveLength(2 * COUNT)
      const text = await metrics.expose()
      expect(text).toContain(`collector_releases{state="Available"} ${COUNT}`)
      expect(text).toContain(`collector_action_duration_seconds_count{action="install",outcome="success"} ${COUNT}`)
    },
    TIMEOUT_MS,
  )
})
