import { expect, it } from 'vitest'
import { missingFrom, storyExcerpt } from './story-excerpt.ts'
import { linesInPicture, terminalPicture } from './terminal-picture.ts'

const STORY = `Reeve on an embedded cluster
\u001b[1mWebApp: a web application\u001b[0m
\u001b[2m   0.3 s\u001b[0m  WebApp shop              \u001b[33mCreated\u001b[0m    0 of 2 available
\u001b[2m   0.5 s\u001b[0m  Deployment shop          waiting    0 of 2 pods available
\u001b[2m   0.6 s\u001b[0m  Pod shop-1               ready
\u001b[2m   0.8 s\u001b[0m  Deployment shop          available  2 of 2 pods available
\u001b[2m   1.0 s\u001b[0m  WebApp shop              \u001b[32mReady\u001b[0m      a < b & "c"

the samples are ready
npm start -- --help shows more`

const picture = terminalPicture(storyExcerpt(STORY), 'The demo')

it('the picture of the demo shows each phase of a resource, the end of other objects, and no pods', () => {
  expect(linesInPicture(picture)).toEqual([
    'WebApp: a web application',
    '0.3 s WebApp shop Created 0 of 2 available',
    '0.8 s Deployment shop available 2 of 2 pods available',
    '1.0 s WebApp shop Ready a < b & "c"',
    'the samples are ready',
  ])
})

it('the picture of the demo has colours for light and dark pages, and nothing from elsewhere', () => {
  expect(picture).toContain('prefers-color-scheme: dark')
  expect(picture).toMatch(/<tspan x="[\d.]+" class="green">Ready<\/tspan>/)
  expect(picture.replace('http://www.w3.org/2000/svg', '')).not.toMatch(/https?:|href|@import|url\(/)
})

it('the picture of the demo is stale when the demo ends in another state, whatever the times and the phases in between', () => {
  const lines = linesInPicture(picture)
  expect(missingFrom(STORY.replace('0.3 s', '9.9 s').replace('Created', 'Reconciling'), lines)).toEqual([])
  expect(missingFrom(STORY.replace('Ready', 'Degraded'), lines)).toEqual([lines[3]])
  expect(missingFrom(STORY.replace('a web application', 'an application'), lines)).toEqual([lines[0]])
})

it('the picture of the demo is not drawn of a demo that failed', () => {
  expect(() => storyExcerpt(STORY.replace('the samples are ready', ''))).toThrow('did not become ready')
})
