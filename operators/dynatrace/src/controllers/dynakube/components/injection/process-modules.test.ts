import { describe, expect, it } from 'vitest'
import { renderInput } from '../../testing/render-input.ts'
import { processModuleFile } from './process-module-file.ts'
import { storedConfig } from './process-modules.ts'

describe('the configuration of code modules that was kept', () => {
  it('is read as it was written, its revision to the last digit', () => {
    const processModuleConfig = {
      revision: '18446744073709551615',
      properties: [{ section: 'general', key: 'logLevel', value: 'info' }],
    }
    const input = renderInput({ oneAgent: { applicationMonitoring: {} } }, { material: { processModuleConfig } })
    const stored = storedConfig(processModuleFile(input))
    expect(stored?.revision).toBe('18446744073709551615')
    expect(stored?.properties).toContainEqual({ section: 'general', key: 'logLevel', value: 'info' })
    expect(
      processModuleFile({ ...input, material: { ...input.material, ...(stored && { processModuleConfig: stored }) } }),
    ).toBe(processModuleFile(input))
  })

  it.each([undefined, '', 'nonsense', 'null', '[]', '{"revision":1,"properties":[]}', '{"properties":[{}]}'])(
    'is asked for again when it is %j',
    (text) => {
      expect(storedConfig(text)).toBeUndefined()
    },
  )
})
