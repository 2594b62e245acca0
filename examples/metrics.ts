/** How do I count something? Every operator has metrics of its reconciles; add your own to the same registry. */
import { match } from 'node:assert'
import { defineOperator } from '@reeve/runtime'
import { createMetricsRegistry } from '@reeve/runtime/metrics'
import { runInMemory } from '@reeve/testing'
import { Notes, note, noteManifest } from './support/note.ts'

const metrics = await createMetricsRegistry({ processMetrics: false })
const words = metrics.counter({ name: 'notes_words_total', help: 'Words that were read.', labels: ['namespace'] })

const operator = defineOperator({
  name: 'counting',
  crds: [noteManifest],
  controllers: [
    {
      for: Notes,
      reconcile: async ({ object }) => {
        // Labels have few values: a namespace, never a name or a text.
        words.inc({ namespace: object?.metadata.namespace ?? '' }, object?.spec.text.split(' ').length ?? 0)
        return {}
      },
    },
  ],
})

await using world = await runInMemory(operator, { options: { metrics } })
await world.apply(Notes, note('shopping', 'milk and bread'))
await world.settle()
// `create({ metricsAddress })` serves this text.
const text = await metrics.expose()
match(text, /notes_words_total\{namespace="default"\} 3/)
match(text, /reconcile_total\{/)
