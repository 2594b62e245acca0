import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mergeProcessConfig } from './process-config.ts'

const merge = (shipped: string, properties: readonly object[] = []) =>
  mergeProcessConfig(shipped, JSON.stringify({ properties, revision: 1 }), '/opt/agent')

const STORAGE = 'storage "/var/lib/dynatrace/oneagent"\n'

describe('the settings of a pod', () => {
  it('are those of the agent, overridden by those of the tenant, in order', () => {
    const shipped = '# comment\n[z]\nb 1\na 2\n\n[general]\nlogDir ../log\nkeep yes\ndataStorageDir ..\n'
    const properties = [
      { section: 'z', key: 'b', value: 'over' },
      { section: 'new', key: 'k', value: 'a b c' },
      { section: 'general', key: 'logDir', value: '/log' },
    ]
    expect(merge(shipped, properties)).toBe(`[general]\nkeep yes\n${STORAGE}\n[new]\nk a b c\n\n[z]\na 2\nb over\n\n`)
  })

  it.each([
    ['libraryPath64 "../lib64/x.so"', 'libraryPath64 "/opt/agent/agent/lib64/x.so"'],
    ['libraryPathOther ../../a/../x.so', 'libraryPathOther /opt/agent/agent/a/x.so'],
    ['other ../x', 'other ../x'],
  ])('have the absolute path of libraries: %s', (line, expected) => {
    expect(merge(`[process]\n${line}\n`)).toBe(`[general]\n${STORAGE}\n[process]\n${expected}\n\n`)
  })

  it('lose shipped values with spaces, line ends of Windows and nothing else', () => {
    expect(merge('top 1\r\n[a]\r\nk v\r\nlong a b\r\nalone\r\n')).toBe(
      `[]\ntop 1\n\n[a]\nalone \nk v\nlong \n\n[general]\n${STORAGE}\n`,
    )
  })

  it.each([
    ['not JSON', '{"properties": secret'],
    ['no object', '"secret"'],
    ['no list', '{"properties":"secret"}'],
    ['an incomplete property', '{"properties":[{"section":"a","key":"secret"}]}'],
  ])('cannot be created from %s, and the error does not repeat it', (_, json) => {
    const merging = () => mergeProcessConfig('', json, '/opt/agent')
    expect(merging).toThrow('ruxitagentproc.json')
    expect(merging).not.toThrow('secret')
  })

  it('do not change when they are merged again', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/)
    const property = fc.record({ section: word, key: word, value: word })
    fc.assert(
      fc.property(fc.array(property), (properties) => {
        const once = merge('[general]\nlogDir x\n', properties)
        expect(merge(once, properties)).toBe(once)
      }),
    )
  })
})
