import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { askOn, type ProjectOptions, readProject } from './project-questions.ts'

/** Answers the questions line by line, as a person does, and returns them with the result. */
async function answer(options: ProjectOptions, ...answers: readonly string[]) {
  const input = new PassThrough()
  const output = new PassThrough()
  const questions: string[] = []
  const left = [...answers]
  output.on('data', (chunk) => {
    questions.push(String(chunk))
    input.write(`${left.shift() ?? ''}\n`)
  })
  using terminal = askOn(input, output)
  const project = await readProject(options, terminal.ask).catch((error: Error) => error.message)
  return { project, questions }
}

describe('the questions of a new project', () => {
  it('are about what the options do not say, with suggestions', async () => {
    expect(await answer({}, 'shop.example.com', 'WebShop', '', '')).toEqual({
      questions: [
        'API group, such as shop.example.com: ',
        'Kind, such as Shop: ',
        'Name of the operator (web-shop-operator): ',
        'Webhooks, yes or no (no): ',
      ],
      project: {
        group: 'shop.example.com',
        kind: 'WebShop',
        plural: 'webshops',
        name: 'web-shop-operator',
        hasWebhooks: false,
      },
    })
  })

  it('take other answers than the suggested ones, and white space around them', async () => {
    const { project } = await answer({}, ' shop.example.com ', 'Shop', 'shops', 'yes')
    expect(project).toMatchObject({ group: 'shop.example.com', name: 'shops', hasWebhooks: true })
  })

  it('are not asked for what the options say', async () => {
    const given = { group: 'example.com', kind: 'Shop', webhooks: true }
    const { questions, project } = await answer(given, '')
    expect(questions).toEqual(['Name of the operator (shop-operator): '])
    expect(project).toMatchObject({ hasWebhooks: true })
  })

  it('end at the first answer that cannot be used, with the remedy', async () => {
    const { questions, project } = await answer({}, 'Shop Example')
    expect(questions).toHaveLength(1)
    expect(project).toContain('use a domain name in lower case')
  })

  it('are not asked where there is nobody: the options must say it', async () => {
    await expect(readProject({ kind: 'Shop' })).rejects.toThrow('--group missing: for example --group shop.example.com')
    expect(await readProject({ group: 'example.com', kind: 'Policy' })).toEqual({
      group: 'example.com',
      kind: 'Policy',
      plural: 'policies',
      name: 'policy-operator',
      hasWebhooks: false,
    })
  })
})
