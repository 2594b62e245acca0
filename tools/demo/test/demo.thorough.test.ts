/** The demo as a user starts it: it shows every scene and succeeds, or reports the failure. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { missingFrom } from '../src/picture/story-excerpt.ts'
import { linesInPicture } from '../src/picture/terminal-picture.ts'
import { linesOf, startDemo } from './support/demo-process.ts'

describe.concurrent('npm start', () => {
  it('with --once shows every operator until its samples are ready, and exits', async () => {
    const { code, story, errors } = await startDemo(['--once', '--timeout', '100']).ended
    expect(errors).toBe('')
    expect(code).toBe(0)
    expect(linesOf(story)).toEqual(
      expect.arrayContaining([
        'WebApp shop Ready',
        'DaemonSet dynatrace-oneagent-csi-driver available',
        'DaemonSet dynakube-oneagent available',
        'DaemonSet dynakube-node-config-collector available',
        'StatefulSet dynakube-activegate available',
        'StatefulSet dynakube-extension-controller available',
        'StatefulSet dynakube-otel-collector available',
        'DynaKube dynakube Running',
        'Deployment edgeconnect available',
        'EdgeConnect edgeconnect Running',
        'Deployment bookshop available',
      ]),
    )
    expect(story.match(/^.*Pod bookshop-\S+ +ready +injected by Dynatrace$/gm)).toHaveLength(2)
    expect(story).toContain('the samples are ready')
    const picture = await readFile(new URL('../../../docs/demo.svg', import.meta.url), 'utf8')
    expect(missingFrom(story, linesInPicture(picture)), 'docs/demo.svg is stale: run `npm run picture`').toEqual([])
  }, 120_000)

  it('with too little time reports what is not ready, and fails', async ({ onTestFinished }) => {
    // The other demo writes its kubeconfig into the root of the repository.
    const cwd = await mkdtemp(join(tmpdir(), 'reeve-demo-'))
    onTestFinished(() => rm(cwd, { recursive: true, force: true }))
    const { code, errors } = await startDemo(['--once', '--timeout', '0.2'], { cwd }).ended
    expect(code).toBe(1)
    expect(errors).toMatch(/^not ready within 0\.2 s: \S+/)
  })
})
