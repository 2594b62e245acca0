import { expect, it } from 'vitest'
import { lacksSysResource } from './runc-wrapper.ts'

it('a machine that withholds CAP_SYS_RESOURCE from root is recognized', () => {
  expect(lacksSysResource('CapEff:\t000001fffeffffff\nCapBnd:\t000001fffeffffff\n')).toBe(true)
  expect(lacksSysResource('CapEff:\t000001ffffffffff\nCapBnd:\t000001ffffffffff\n')).toBe(false)
})
