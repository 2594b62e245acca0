/** How do I serve several versions of a resource? One is stored; the others are converted from and to it. */
import { deepStrictEqual } from 'node:assert'
import { defineConversion, defineCrd } from '@reeve/crd'
import { conversionWebhook } from '@reeve/runtime/webhooks'
import { Type } from 'typebox'

const AlarmCrd = defineCrd({
  group: 'example.com',
  kind: 'Alarm',
  plural: 'alarms',
  scope: 'Namespaced',
  versions: {
    v1: { spec: Type.Object({ hour: Type.Integer(), minute: Type.Integer() }), storage: true },
    v1beta1: { spec: Type.Object({ time: Type.String() }) },
  },
})

const convert = defineConversion(AlarmCrd, 'v1', {
  v1beta1: {
    toHub: ({ metadata, spec }) => {
      const [hour = 0, minute = 0] = spec.time.split(':').map(Number)
      return { apiVersion: 'example.com/v1', kind: 'Alarm', metadata, spec: { hour, minute } }
    },
    fromHub: ({ metadata, spec: { hour, minute } }) => ({
      apiVersion: 'example.com/v1beta1',
      kind: 'Alarm',
      metadata,
      spec: { time: `${hour}:${String(minute).padStart(2, '0')}` },
    }),
  },
})

/** For `webhooks` of `defineOperator`; the API server calls it. */
export const webhook = conversionWebhook('/convert', [{ group: 'example.com', kind: 'Alarm', convert }])

const old = { apiVersion: 'example.com/v1beta1', kind: 'Alarm', metadata: { name: 'wake-up' }, spec: { time: '6:05' } }
const stored = convert(old, 'v1')
deepStrictEqual(stored, { ...old, apiVersion: 'example.com/v1', spec: { hour: 6, minute: 5 } })
// Nothing may be lost on the way there and back.
deepStrictEqual(convert(stored, 'v1beta1'), old)
