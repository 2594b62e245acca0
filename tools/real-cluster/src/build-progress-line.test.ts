import { describe, expect, it } from 'vitest'
import { showBuildProgress } from './build-progress-line.ts'

const compiling = (done: number) => ({ phase: 'compiling', done, total: 100, detail: 'k8s.io/api' }) as const

describe('the progress of a build', () => {
  it('prints a line every 15 seconds to a log', () => {
    const written: string[] = []
    let nowMs = 0
    const show = showBuildProgress({ write: (text) => written.push(text) }, () => nowMs)
    for (let done = 0; done < 40; done += 1) {
      show(compiling(done))
      nowMs += 1_000
    }
    expect(written).toEqual([
      'real cluster: compiling, 0 of 100 packages: k8s.io/api (0 s)\n',
      'real cluster: compiling, 15 of 100 packages: k8s.io/api (15 s)\n',
      'real cluster: compiling, 30 of 100 packages: k8s.io/api (30 s)\n',
    ])
  })

  it('updates one line on a terminal, no wider than the terminal', () => {
    const written: string[] = []
    const show = showBuildProgress({ write: (text) => written.push(text), isTTY: true, columns: 30 }, () => 0)
    show(compiling(1))
    show(compiling(2))
    expect(written).toEqual(['\r\u001b[Kreal cluster: compiling, 1 of', '\r\u001b[Kreal cluster: compiling, 2 of'])
  })
})
