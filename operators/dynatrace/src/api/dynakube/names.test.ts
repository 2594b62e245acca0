import { describe, expect, it } from 'vitest'
import { dynakube } from '../testing/build.ts'
import {
  databaseExecutorName,
  extensionControllerHost,
  extensionControllerTlsSecretName,
  imagePullSecretNames,
  namesOf,
  singlePullSecretName,
  telemetryIngestServiceName,
  tokensSecretName,
} from './names.ts'

describe('names of what belongs to a DynaKube', () => {
  it('begin with its name', () => {
    expect(Object.values(namesOf(dynakube()))).toEqual([
      'dk-pull-secret',
      'dk-oneagent',
      'dk-oneagent-tenant-secret',
      'dk-oneagent-connection-info',
      'dk-activegate',
      'dk-activegate-tenant-secret',
      'dk-activegate-authtoken-secret',
      'dk-activegate-connection-info',
      'dk-internal-proxy',
      'dk-deployment-metadata',
      'dk-logmonitoring',
      'dk-logmonitoring-config',
      'dk-node-config-collector',
      'dk-kspm-token',
      'dk-extension-controller',
      'dk-extensions-token',
      'dk-otel-collector',
      'dk-telemetry-collector-config',
      'dk-bootstrapper-config',
      'dk-bootstrapper-certs',
      'dk-otlp-exporter-config',
      'dk-otlp-exporter-certs',
      'dk-extensions-controller',
      'dk-extensions-controller-tls',
    ])
    expect(databaseExecutorName(dynakube(), 'db1')).toBe('dk-sql-ext-exec-db1')
    expect(extensionControllerHost(dynakube())).toBe('dk-extension-controller.dynatrace')
  })

  it('take the Secret with the tokens from the field, else from the name', () => {
    expect(tokensSecretName(dynakube())).toBe('dk')
    expect(tokensSecretName(dynakube({ tokens: 'mine' }))).toBe('mine')
  })

  it('list the generated pull secret before that of the user', () => {
    expect(imagePullSecretNames(dynakube())).toEqual(['dk-pull-secret'])
    expect(imagePullSecretNames(dynakube({ customPullSecret: 'mine' }))).toEqual(['dk-pull-secret', 'mine'])
    expect(imagePullSecretNames(dynakube({ customPullSecret: 'dk-pull-secret' }))).toEqual(['dk-pull-secret'])
    expect(singlePullSecretName(dynakube({ customPullSecret: 'mine' }))).toBe('mine')
    expect(singlePullSecretName(dynakube())).toBe('dk-pull-secret')
  })

  it('can be chosen for the ingest service and the certificate of the extension controller', () => {
    expect(telemetryIngestServiceName(dynakube({ telemetryIngest: {} }))).toBe('dk-telemetry-ingest')
    expect(telemetryIngestServiceName(dynakube({ telemetryIngest: { serviceName: 'in' } }))).toBe('in')
    expect(extensionControllerTlsSecretName(dynakube())).toBe('dk-extension-controller-tls')
    const templates = { extensionExecutionController: { tlsRefName: 'mine' } }
    expect(extensionControllerTlsSecretName(dynakube({ templates }))).toBe('mine')
  })
})
