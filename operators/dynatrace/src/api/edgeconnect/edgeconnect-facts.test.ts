import { describe, expect, it } from 'vitest'
import { edgeConnect } from '../testing/build.ts'
import {
  clientSecretName,
  configSecretName,
  edgeConnectImage,
  hostMappings,
  hostPatterns,
  isAutoUpdated,
  isCustomImage,
  serviceAccountName,
} from './edgeconnect-facts.ts'

describe('an EdgeConnect', () => {
  it('names its Secrets after itself', () => {
    expect([configSecretName(edgeConnect()), clientSecretName(edgeConnect())]).toEqual(['ec-ec-yaml', 'ec-client'])
  })

  it('has a default for each half of its image', () => {
    expect(edgeConnectImage(edgeConnect())).toBe('docker.io/dynatrace/edgeconnect:latest')
    expect(edgeConnectImage(edgeConnect({ imageRef: { tag: '1' } }))).toBe('docker.io/dynatrace/edgeconnect:1')
    expect(edgeConnectImage(edgeConnect({ imageRef: { repository: 'r' } }))).toBe('r:latest')
    expect(isCustomImage(edgeConnect({ imageRef: { tag: '1' } }))).toBe(false)
  })

  it('has defaults for its service account and updates', () => {
    expect(serviceAccountName(edgeConnect())).toBe('dynatrace-edgeconnect')
    expect(serviceAccountName(edgeConnect({ serviceAccountName: '' }))).toBe('')
    expect([isAutoUpdated(edgeConnect()), isAutoUpdated(edgeConnect({ autoUpdate: false }))]).toEqual([true, false])
  })

  it('lists the automation host once and last, whatever its case', () => {
    const host = 'ec.dynatrace.uid.kubernetes-automation'
    const given = [host.toUpperCase(), '*.internal.org']
    const status = { kubeSystemUID: 'uid' }
    const automated = edgeConnect({ hostPatterns: given, kubernetesAutomation: { enabled: true } }, status)
    expect(hostPatterns(automated)).toEqual(['*.internal.org', host])
    expect(hostMappings(automated)).toEqual([{ from: host, to: 'kubernetes.default.svc.cluster.local' }])
    expect(hostPatterns(edgeConnect({ hostPatterns: given }, status))).toEqual(given)
  })
})
