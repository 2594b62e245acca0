import { describe, expect, it } from 'vitest'
import { renderInput } from '../../testing/render-input.ts'
import { processModuleFile } from './process-module-file.ts'
import { storedConfig } from './process-modules.ts'

describe('the configuration of code modules that was kept', () => {
  it('is read unchanged, with all digits of its revision', () => {
    const processModuleConfig = {
      revision: '18446744073709551615',
      properties: [{ section: 'general', key: 'logLevel', value: 'info' }],
    }
    const { dynakube } = renderInput({ oneAgent: { applicationMonitoring: {} } })
    const connection = { oneAgentTenantToken: 'test-token' }
    const file = processModuleFile(dynakube, processModuleConfig, connection)
    const stored = storedConfig(file)
    expect(stored?.revision).toBe('18446744073709551615')
    expect(stored?.properties).toContainEqual({ section: 'general', key: 'logLevel', value: 'info' })
    expect(stored && processModuleFile(dynakube, stored, connection)).toBe(file)
  })

  it.each([undefined, '', 'nonsense', 'null', '[]', '{"revision":1,"properties":[]}', '{"properties":[{}]}'])(
    'is requested again when it is %j',
    (text) => {
      expect(storedConfig(text)).toBeUndefined()
    },
  )
})
