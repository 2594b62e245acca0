/** Labels that tie a WebApp's objects together. */
import type { WebApp } from '../api/webapp.ts'

/** The operator's name, which is on everything it makes. */
export const NAME = 'webapp-operator'

const INSTANCE = 'app.kubernetes.io/instance'
const APP = 'app.kubernetes.io/name'
const MANAGED_BY = 'app.kubernetes.io/managed-by'

/** Selects the pods of one WebApp. A Deployment's selector can never change, so neither may this. */
export function selectorLabels(webapp: WebApp): Readonly<Record<string, string>> {
  return { [APP]: 'webapp', [INSTANCE]: webapp.metadata.name ?? '' }
}

/** On every object of a WebApp. */
export function objectLabels(webapp: WebApp): Readonly<Record<string, string>> {
  return { ...selectorLabels(webapp), [MANAGED_BY]: NAME }
}

/** The selector as autoscalers read it from the scale subresource. */
export function selectorText(webapp: WebApp): string {
  return Object.entries(selectorLabels(webapp))
    .map(([name, value]) => `${name}=${value}`)
    .join(',')
}
