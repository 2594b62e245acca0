import { describe, expect, it } from 'vitest'
import { OperatorSettingsError, operatorSettings } from './operator-settings.ts'

const POD = { POD_NAMESPACE: 'dynatrace' }

describe('the settings of the operator', () => {
  it('have defaults', () => {
    const { modules, ...settings } = operatorSettings(POD)
    expect(settings).toEqual({
      namespace: 'dynatrace',
      podName: undefined,
      image: '',
      release: { version: undefined },
      migratesStorage: true,
      detectsHostAvailability: true,
      instancesIntervalMs: 300_000,
      election: { leaseDurationMs: 30_000, renewDeadlineMs: 20_000, retryPeriodMs: 6_000 },
      areCertificatesProvided: false,
      isLocal: false,
      unreadable: [],
    })
    expect(Object.values(modules).every((isOn) => isOn)).toBe(true)
  })

  it('name the variable that cannot be done without', () => {
    expect(() => operatorSettings({})).toThrow(OperatorSettingsError)
    expect(() => operatorSettings({})).toThrow(/POD_NAMESPACE/)
  })

  it('require the release of the CRDs, except during development', () => {
    expect(operatorSettings({ ...POD, RUN_LOCAL: 'true' }).release).toBeUndefined()
    expect(operatorSettings({ ...POD, RUN_LOCAL: 'true', APP_VERSION: '1.8.1' }).release).toEqual({ version: '1.8.1' })
  })

  it('fall back for what cannot be read', () => {
    const env = { ...POD, LEADER_ELECTION_LEASE_DURATION: 'abc', ONEAGENT_OPERATOR_UPDATE_INTERVAL: '-1' }
    expect(operatorSettings(env).election.leaseDurationMs).toBe(30_000)
    expect(operatorSettings(env).instancesIntervalMs).toBe(300_000)
    expect(operatorSettings(env).unreadable.toSorted()).toEqual(Object.keys(env).slice(1).toSorted())
    expect(operatorSettings({ ...POD, DT_HOST_AVAILABILITY_DETECTION: 'false' }).detectsHostAvailability).toBe(false)
    expect(operatorSettings({ ...POD, DT_HOST_AVAILABILITY_DETECTION: 'false' }).unreadable).toEqual([])
    expect(operatorSettings({ ...POD, DT_HOST_AVAILABILITY_DETECTION: 'maybe' }).detectsHostAvailability).toBe(true)
    expect(operatorSettings({ ...POD, DT_CRD_STORAGE_MIGRATION: 'false' }).migratesStorage).toBe(false)
    expect(operatorSettings({ ...POD, DT_CRD_STORAGE_MIGRATION: 'job' }).migratesStorage).toBe(true)
  })
})
