import { describe, expect, it } from 'vitest'
import { manifestChanges } from './manifest-changes.ts'

const deployment = (replicas: number, apiVersion = 'apps/v1') =>
  `---\n# Source: web/templates/web.yaml\napiVersion: ${apiVersion}\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: ${replicas}, list: [{a: 1}]}\n`
const secret = (password: string) =>
  `---\napiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: other}\nstringData: {password: ${password}}\n`

describe('manifestChanges', () => {
  it('finds nothing between manifests that say the same', () => {
    expect(manifestChanges(deployment(1) + secret('a'), secret('a') + deployment(1))).toEqual([])
  })

  it('lists what is added, modified and deleted, and never a value', () => {
    const changes = manifestChanges(
      deployment(1) + secret('hunter2'),
      `${secret('hunter3')}---\napiVersion: v1\nkind: Pod\nmetadata: {name: p}\n`,
    )
    expect(changes).toEqual([
      {
        change: 'update',
        apiVersion: 'v1',
        kind: 'Secret',
        namespace: 'other',
        name: 'web',
        fields: ['stringData.password'],
      },
      { change: 'create', apiVersion: 'v1', kind: 'Pod', name: 'p', fields: [] },
      { change: 'delete', apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', fields: [] },
    ])
    expect(JSON.stringify(changes)).not.toContain('hunter')
  })

  it('takes another version of the same API for an update', () => {
    expect(manifestChanges(deployment(1, 'apps/v1beta1'), deployment(2))).toMatchObject([
      { change: 'update', fields: ['apiVersion', 'spec.replicas'] },
    ])
  })

  it('names items of lists by their place', () => {
    expect(manifestChanges(deployment(1), deployment(1).replace('{a: 1}', '{a: 2}, {b: 1}'))).toMatchObject([
      { fields: ['spec.list[0].a', 'spec.list[1]'] },
    ])
  })
})
