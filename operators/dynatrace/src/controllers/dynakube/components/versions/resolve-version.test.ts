import { describe, expect, it } from 'vitest'
import { healthCheckOf } from './resolve-version.ts'

describe('the health of an agent', () => {
  it.each([
    ['1.275.999.20240101-000000', ['/bin/sh', '-c', 'grep -q oneagentwatchdo /proc/[0-9]*/stat']],
    ['1.276.0.20240101-000000', ['/usr/bin/watchdog-healthcheck64']],
    ['2.0.0.20240101-000000', ['/usr/bin/watchdog-healthcheck64']],
    ['custom-image', ['/usr/bin/watchdog-healthcheck64']],
    [undefined, ['/usr/bin/watchdog-healthcheck64']],
  ])('is started with the arguments of version %s', (version, test) => {
    expect(healthCheckOf(version)).toEqual({
      Test: test,
      Interval: 10_000_000_000,
      Timeout: 30_000_000_000,
      StartPeriod: 1_200_000_000_000,
      Retries: 3,
    })
  })
})
