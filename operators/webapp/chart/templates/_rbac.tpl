{{- /* What the operator does in the namespaces that it watches. */}}
{{- define "webapp.namespaceRules" -}}
- apiGroups: [example.com]
  resources: [webapps]
  verbs: [get, list, watch]
- apiGroups: [example.com]
  resources: [webapps/status]
  verbs: [update]
# To set blockOwnerDeletion on what a WebApp owns.
- apiGroups: [example.com]
  resources: [webapps/finalizers]
  verbs: [update]
- apiGroups: [apps]
  resources: [deployments]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [services]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [networking.k8s.io]
  resources: [ingresses]
  verbs: [get, list, watch, create, patch, delete]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- end }}

{{- /* What can only be granted cluster-wide; empty if there is nothing. */}}
{{- define "webapp.clusterRules" -}}
{{- if and .Values.webhook.enabled (not .Values.webhook.certificateSecretName) }}
# To tell the API server which certificate authority to trust.
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations, validatingwebhookconfigurations]
  resourceNames: [{{ include "webapp.name" . | quote }}]
  verbs: [get, patch]
{{- end }}
{{- if include "webapp.upgradesCrds" . }}
# Helm does not upgrade it.
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  resourceNames: [webapps.example.com]
  verbs: [get, patch]
{{- end }}
{{- if .Values.metrics.protected }}
# To check who reads /metrics.
- apiGroups: [authentication.k8s.io]
  resources: [tokenreviews]
  verbs: [create]
- apiGroups: [authorization.k8s.io]
  resources: [subjectaccessreviews]
  verbs: [create]
{{- end }}
{{- end }}

{{- define "webapp.subjects" -}}
- kind: ServiceAccount
  name: {{ include "webapp.name" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}
