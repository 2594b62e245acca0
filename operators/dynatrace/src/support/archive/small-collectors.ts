/** The version, the report of `troubleshoot`, and files that simulate load. */
import { randomBytes } from 'node:crypto'
import type { Collector } from './context.ts'

const MIB = 1024 * 1024
const LETTERS = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 '

/** `operator-version.txt`. */
export const operatorVersion: Collector = {
  name: 'version of the operator',
  async collect({ zip, operatorVersion: version }) {
    const { platform, arch, version: node } = process
    const lines = [
      `version: ${version}`,
      'gitCommit: ',
      'buildDate: ',
      `goVersion none (Node.js ${node})`,
      `platform ${platform}/${arch}`,
    ]
    await zip.add('operator-version.txt', [`${lines.join('\n')}\n`])
  },
}

/** `troubleshoot.txt`. */
export const troubleshootReport: Collector = {
  name: 'troubleshoot',
  async collect({ zip, redact, troubleshoot }) {
    const lines: string[] = []
    let failure: { readonly reason: unknown } | undefined
    await troubleshoot((text) => lines.push(redact(text))).catch((reason: unknown) => {
      failure = { reason }
    })
    await zip.add('troubleshoot.txt', lines)
    if (failure !== undefined) throw failure.reason
  },
}

/** `logs/loadsim/loadsim-<i>.log`, to try out how an archive of some size is handled. */
export const loadSimulation: Collector = {
  name: 'load simulation',
  async collect({ zip, console, loadsimFiles, loadsimFileSizeMiB }) {
    for (let index = 0; index < loadsimFiles; index += 1) {
      const path = `logs/loadsim/loadsim-${index}.log`
      await zip.add(path, randomText(loadsimFileSizeMiB))
      console.note(`collected ${path}`)
    }
  },
}

function* randomText(sizeMiB: number): Generator<string> {
  for (let part = 0; part < sizeMiB * 16; part += 1) {
    yield Array.from(randomBytes(MIB / 16), (byte) => LETTERS[byte % LETTERS.length]).join('')
  }
}
