import { expect, it } from 'vitest'
import { DynaKubes } from '../api/latest.ts'
import { inStoredVersion, isOfInterest } from './manifest-objects.ts'

it('a plan takes notice of kinds that the operator uses', () => {
  const object = (apiVersion: string, kind: string) => ({ apiVersion, kind, metadata: {} })
  expect(isOfInterest(object('dynatrace.com/v1beta4', 'DynaKube'))).toBe(true)
  expect(isOfInterest(object('v1', 'Namespace'))).toBe(true)
  expect(isOfInterest(object('example.com/v1', 'Secret'))).toBe(false)
  expect(isOfInterest(object('v1', 'ServiceAccount'))).toBe(false)
})

it('a plan converts resources to the version that is stored', () => {
  const apiUrl = 'https://tenant.live.dynatrace.com/api'
  const dynakube = { apiVersion: 'dynatrace.com/v1beta4', kind: 'DynaKube', metadata: { name: 'dk' }, spec: { apiUrl } }
  expect(inStoredVersion(DynaKubes, dynakube)).toMatchObject({ apiVersion: 'dynatrace.com/v1beta6', spec: { apiUrl } })
})
