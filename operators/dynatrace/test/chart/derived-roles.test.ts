/** The chart gives the operator the rights that follow from its definition. */
import { runCaptured } from '@reeve/cli/testing'
import type { ClusterRole, PolicyRule, Role, UnknownObject } from '@reeve/kube'
import { missingRights } from '@reeve/runtime/operator'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { main } from '../../src/cli/main.ts'
import { dynatraceRoles } from '../../src/index.ts'
import { helmPath } from '../support/render-chart.ts'
import { rulesOf } from './support/find.ts'
import { NAMESPACE, renderWithoutCrds } from './support/render.ts'

const OPERATOR = 'dynatrace-operator'
const OPENSHIFT = ['--api-versions', 'security.openshift.io/v1']

/** Rights of the chart that no code of the operator uses, and why it gives them. */
const BEYOND: Readonly<Record<string, string>> = {
  'use security.openshift.io/securitycontextconstraints': 'pods of the operator are admitted by them on OpenShift',
}

function compare(objects: readonly UnknownObject[], roles: ReturnType<typeof dynatraceRoles>) {
  const both: readonly (readonly [string, ClusterRole | Role | undefined])[] = [
    ['ClusterRole', roles.clusterRole],
    ['Role', roles.roles[0]],
  ]
  const compared = both.map(([kind, role]) => {
    const granted = rulesOf(objects, kind, OPERATOR) as readonly PolicyRule[]
    const needed = role?.rules ?? []
    return { missing: missingRights(needed, granted), beyond: missingRights(granted, needed) }
  })
  return {
    missing: compared.flatMap(({ missing }) => missing),
    beyond: [...new Set(compared.flatMap(({ beyond }) => beyond))],
  }
}

describe.skipIf(helmPath === undefined)('the roles of the operator in the chart (skipped without helm)', () => {
  it('give every right that follows from its definition, and no other', async () => {
    const roles = dynatraceRoles({ namespace: NAMESPACE, detectsHostAvailability: true })
    expect(roles.roles.map(({ metadata }) => metadata.namespace)).toEqual([NAMESPACE])
    expect(compare(await renderWithoutCrds(), roles)).toEqual({ missing: [], beyond: [] })
  })

  it('give on OpenShift what its pods need as well', async () => {
    const roles = dynatraceRoles({ namespace: NAMESPACE, detectsHostAvailability: true })
    expect(compare(await renderWithoutCrds([], OPENSHIFT), roles)).toEqual({ missing: [], beyond: Object.keys(BEYOND) })
  })

  it('give no right to nodes when they are not announced', async () => {
    const roles = dynatraceRoles({ namespace: NAMESPACE, detectsHostAvailability: false })
    const objects = await renderWithoutCrds(['operator.hostAvailabilityDetection=false'])
    expect(compare(objects, roles).missing).toEqual([])
    expect(JSON.stringify(roles.clusterRole)).not.toContain('nodes')
  })
})

it('derived roles are printed by the operator itself', async () => {
  const { code, stdout } = await runCaptured(main, ['rbac', '-n', NAMESPACE])
  expect(code).toBe(0)
  const { clusterRole, roles } = dynatraceRoles({ namespace: NAMESPACE, detectsHostAvailability: true })
  const printed = parseAllDocuments(stdout).map((document) => document.toJS() as { readonly kind: string })
  const isRole = ({ kind }: { readonly kind: string }) => kind === 'ClusterRole' || kind === 'Role'
  expect(printed.filter(isRole)).toEqual(JSON.parse(JSON.stringify([clusterRole, ...roles])))
  expect(printed[0]).toMatchObject({ kind: 'ServiceAccount', metadata: { name: 'dynatrace-operator' } })
})
