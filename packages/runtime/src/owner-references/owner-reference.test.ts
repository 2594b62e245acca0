import type { KubeObject, OwnerReference, Stored } from '@reeve/kube'
import { expect, test } from 'vitest'
import {
  AlreadyControlledError,
  CrossNamespaceOwnerError,
  controllerOf,
  controllerReference,
  withControllerReference,
} from './owner-reference.ts'

const owner = (namespace: string | undefined, uid = 'uid-1'): Stored<KubeObject> => ({
  apiVersion: 'example.com/v1',
  kind: 'WebApp',
  metadata: {
    name: 'web',
    uid,
    resourceVersion: '1',
    creationTimestamp: '2030-01-01T00:00:00Z',
    ...(namespace !== undefined && { namespace }),
  },
})

const child = (namespace: string | undefined, ownerReferences?: OwnerReference[]): KubeObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', ...(namespace !== undefined && { namespace }), ...(ownerReferences && { ownerReferences }) },
})

test('the owner becomes the controller and blocks foreground deletion', () => {
  const service = withControllerReference(owner('shop'), child('shop'))
  expect(service.metadata.ownerReferences).toEqual([
    {
      apiVersion: 'example.com/v1',
      kind: 'WebApp',
      name: 'web',
      uid: 'uid-1',
      controller: true,
      blockOwnerDeletion: true,
    },
  ])
  expect(controllerOf(service)?.uid).toBe('uid-1')
})

test('setting the same controller twice changes nothing', () => {
  const service = withControllerReference(owner('shop'), child('shop'))
  expect(withControllerReference(owner('shop'), service)).toBe(service)
})

test('owners that do not control stay', () => {
  const helper = { apiVersion: 'v1', kind: 'ConfigMap', name: 'helper', uid: 'uid-9' }
  const service = withControllerReference(owner('shop'), child('shop', [helper]))
  expect(service.metadata.ownerReferences).toEqual([helper, controllerReference(owner('shop'))])
})

test('a plain owner reference to the same owner is replaced, not doubled', () => {
  const plain = { apiVersion: 'example.com/v1', kind: 'WebApp', name: 'web', uid: 'uid-1' }
  const service = withControllerReference(owner('shop'), child('shop', [plain]))
  expect(service.metadata.ownerReferences).toEqual([controllerReference(owner('shop'))])
})

test('a namespaced owner cannot own into another namespace or into none', () => {
  expect(() => withControllerReference(owner('shop'), child('other'))).toThrow(CrossNamespaceOwnerError)
  expect(() => withControllerReference(owner('shop'), child(undefined))).toThrow(/is cluster-scoped/)
})

test('a cluster-scoped owner may own everywhere', () => {
  expect(controllerOf(withControllerReference(owner(undefined), child('shop')))?.uid).toBe('uid-1')
})

test('a second controller is rejected and the error names the first one', () => {
  const service = withControllerReference(owner('shop'), child('shop'))
  expect(() => withControllerReference(owner('shop', 'uid-2'), service)).toThrow(AlreadyControlledError)
  expect(() => withControllerReference(owner('shop', 'uid-2'), service)).toThrow(/controlled by WebApp web/)
})
