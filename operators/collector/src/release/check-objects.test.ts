import { UnknownKindError } from '@reeve/kube'
import { describe, expect, it } from 'vitest'
import { checkObjects, type ManifestPart, type ObjectCheck, ObjectsNotAllowedError } from './check-objects.ts'

const CLUSTER_KINDS = ['ClusterRole', 'Namespace', 'CustomResourceDefinition']

const check = (allowedKinds: readonly string[] = []): ObjectCheck => ({
  release: { namespace: 'acme', name: 'logs' },
  allowedKinds,
  options: {},
  client: {
    resourceFor: async (object) => {
      if (object.kind === 'Nothing') throw new UnknownKindError(object)
      const namespaced = !CLUSTER_KINDS.includes(object.kind)
      return { group: '', version: 'v1', kind: object.kind, plural: 'things', namespaced }
    },
  },
})
const object = (apiVersion: string, kind: string, metadata: string) =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: ${metadata}\n`
const part = (text: string, kind: ManifestPart['kind'] = 'manifest'): ManifestPart => ({ kind, text })
const messageOf = (parts: readonly ManifestPart[], allowed?: readonly string[]) =>
  checkObjects(parts, check(allowed)).then(
    () => '',
    (error: ObjectsNotAllowedError) => error.message,
  )

describe('what a chart renders', () => {
  it('may be anything in the namespace of the release, named or not', async () => {
    const own = `${object('v1', 'Secret', '{name: a}')}---\n${object('batch/v1', 'Job', '{name: b, namespace: acme}')}`
    expect(await messageOf([part(own), part(object('v1', 'Pod', '{generateName: c-}'), 'hook')])).toBe('')
  })

  it.each([
    [
      'an object elsewhere',
      part(object('batch/v1', 'Job', '{name: pwn, namespace: kube-system}')),
      'Job kube-system/pwn, in',
    ],
    [
      'an object of the cluster',
      part(object('rbac.authorization.k8s.io/v1', 'ClusterRole', '{name: pwn}')),
      'ClusterRole pwn, which',
    ],
    [
      'a hook elsewhere',
      part(object('v1', 'Pod', '{name: h, namespace: other}'), 'hook'),
      'Pod other/h, in another namespace (in a hook)',
    ],
    [
      'a custom resource definition',
      part(object('apiextensions.k8s.io/v1', 'CustomResourceDefinition', '{name: a.b}'), 'crds folder'),
      'CustomResourceDefinition a.b, which',
    ],
    ['a job in a crds folder', part(object('batch/v1', 'Job', '{name: j, namespace: x}'), 'crds folder'), 'Job x/j'],
    ['an unknown kind', part(object('a/v1', 'Nothing', '{name: odd}')), 'Nothing odd, of a kind'],
    ['what cannot be read', part('a: ['), 'cannot be checked: document 1 is not valid YAML'],
    [
      'an item of an object that is not a list',
      part(
        `${object('v1', 'ConfigMap', '{name: c}')}items: [{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: x}}]`,
      ),
      'Pod x/p',
    ],
  ])('may not be %s, which is named', async (_, manifest, message) => {
    expect(await messageOf([manifest])).toContain(message)
  })

  it('may be of a kind that the administrator allows, of that group only', async () => {
    const role = part(object('rbac.authorization.k8s.io/v1', 'ClusterRole', '{name: a}'))
    expect(await messageOf([role], ['ClusterRole.rbac.authorization.k8s.io'])).toBe('')
    expect(await messageOf([role], ['ClusterRole', 'ClusterRole.example.com'])).not.toBe('')
    expect(await messageOf([part(object('v1', 'Namespace', '{name: a}'))], ['Namespace'])).toBe('')
  })

  it('does not fill a condition with its names', async () => {
    const long = object('v1', 'Pod', `{name: "${'x'.repeat(500)}\\n", namespace: other}`)
    const message = await messageOf([part(Array.from({ length: 30 }, () => long).join('---\n'))])
    expect(message.length).toBeLessThan(2_000)
    expect(message).not.toContain('\n')
    expect(message).toContain('and 20 more')
    await expect(checkObjects([part(long)], check())).rejects.toBeInstanceOf(ObjectsNotAllowedError)
  })
})
