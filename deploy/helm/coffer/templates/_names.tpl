{{- define "coffer.labels" -}}
app: {{ .Release.Name }}
{{- end }}

{{- define "coffer.metadata" -}}
metadata:
  name: {{ .Release.Name }}
  labels:
    {{- include "coffer.labels" . | nindent 4 }}
{{- end }}
