/** The charts run what `npm run image` builds, without any setting, on nodes that have the image. */
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { findClientBinary, renderChart } from '@reeve/client-binaries'
import { describe, expect, it } from 'vitest'
import { defaultTag, imageDefinition, localReference, OPERATORS } from '../src/image-definitions.ts'

const helm = await findClientBinary('helm')
const path = (file: string) => fileURLToPath(new URL(`../../../${file}`, import.meta.url))

describe.skipIf(helm === undefined)('images of charts (skipped without helm)', () => {
  it.concurrent.each(OPERATORS)('of %s are by default those that are built here', async (operator) => {
    const definition = imageDefinition(operator)
    const { version } = JSON.parse(await readFile(path(`${definition.workspace}/package.json`), 'utf8'))
    const chart = path(`${definition.workspace}/chart`)
    // CRDs are most of the time that helm takes.
    const values = operator === 'dynatrace' ? { installCRD: false } : {}
    const { objects, notes } = await renderChart(chart, { helm: helm ?? '', release: 'a', namespace: 'b', values })
    const images = JSON.stringify(objects).match(/(?<="image":")[^"]*/g)
    expect([...new Set(images)]).toEqual([localReference(definition, defaultTag(definition, version))])
    expect(JSON.stringify(objects)).not.toContain('"imagePullPolicy":"Always"')
    expect(notes).toContain('nodes must already have the image')
  })
})
