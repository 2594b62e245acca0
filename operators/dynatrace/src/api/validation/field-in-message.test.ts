import { describe, expect, it } from 'vitest'
import { dynakube } from '../testing/build.ts'
import { fieldInMessage } from './field-in-message.ts'

const object = dynakube({ oneAgent: { hostMonitoring: { args: [] } } })

describe('the field of a message', () => {
  it.each([
    ['spec.apiUrl is "https://spec.example/api", which', 'spec.apiUrl'],
    ['spec.extensions.databases[a.b].volumeMounts: the path', 'spec.extensions.databases[a.b].volumeMounts'],
    ['the password in spec.proxy.value contains', 'spec.proxy.value'],
    ['metadata.name has 50 characters', 'metadata.name'],
    ['args of spec.oneAgent give --a more than once', 'spec.oneAgent.hostMonitoring.args'],
    ['hostGroup of spec.oneAgent', 'spec.oneAgent'],
    ['nodeSelector of spec.templates.logMonitoring: an agent', 'spec.templates.logMonitoring'],
    ['the annotation feature.dynatrace.com/x is deprecated', 'metadata.annotations[feature.dynatrace.com/x]'],
    ['every EdgeConnect needs EdgeConnect', undefined],
    ['specification of metadatabase', undefined],
  ])('%s: %s', (message, field) => {
    expect(fieldInMessage(message, object)).toBe(field)
  })
})
