"""Push documentation, and list and delete what was pushed: `/v1/sources`."""

from typing import Any

from django.db.models import Count, Q
from django.http import HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from ninja import Path, Query, Router

from docsite.core import context
from docsite.core.access import uploads
from docsite.core.access.request_checks import AdminKey, CallerRequest
from docsite.core.db import REPORTS, in_db
from docsite.core.http.errors import BadRequest, NotFound
from docsite.core.http.streams import PieceResponse
from docsite.core.tenants.models import Project
from search.limits import push_charges
from search.models import Source
from search.pushes import stored_files, stream
from search.pushes.run import Push
from search.pushes.schemas import ManifestIn, MissingFiles, PushedSource, PushedSources, PushQuery, SourceName
from search.stored_sources import runs

router = Router()
_ARCHIVE = {"type": "string", "format": "binary"}
_LINES = {"description": "Progress, one JSON object a line. The last line has the event `end` or `error`."}


@router.put(
    "/{projectId}/{name}",
    auth=AdminKey(push_charges),
    operation_id="pushSource",
    summary="Push documentation",
    description="The body is a tar (plain, or compressed by gzip, bzip2 or xz) or a zip of the whole documentation. "
    "Its pages replace those of the last push to this name, in one step at the end.",
    response=None,
    openapi_extra={
        "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": _ARCHIVE}}},
        "responses": {200: {**_LINES, "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}},
    },
)
async def push(
    request: CallerRequest, projectId: str, name: Path[SourceName], params: Query[PushQuery]
) -> HttpResponseBase:
    """Ingest an archive, and stream the progress."""
    for parameter in request.GET.keys() - PushQuery.model_fields.keys():
        raise BadRequest(f"{parameter[:100]}: is no parameter")  # `previw=1` must not be a push
    file = await uploads.receive(request)  # type: ignore[arg-type]  # it is an ASGIRequest
    project = request.auth.project
    await in_db(_check_name)(project, name)
    options = params.model_dump(include=set(runs.OPTIONS), exclude_none=True)
    job = Push(
        project.pk,
        name,
        params.root,
        options,
        is_delta=params.delta == "1",
        is_preview=params.preview == "1",
        actor=_name(request),
    )
    return PieceResponse(await stream.start(job, file), {"Content-Type": "application/x-ndjson"})


@router.post(
    "/{projectId}/{name}/manifest",
    auth=AdminKey(push_charges, ManifestIn),
    operation_id="findMissingFiles",
    summary="Find the files that a push has to send",
    description="The service stores the files of the last push. A push with `delta=1` sends only those that are "
    "missing, and this manifest as `.push-manifest.json`.",
    response=MissingFiles,
)
async def manifest(request: CallerRequest, projectId: str, name: Path[SourceName], payload: ManifestIn) -> HttpResponse:
    """Compare a list of files with the stored ones."""
    missing = await in_db(_find_missing)(request.auth.project, name, payload.files)
    return JsonResponse({"missing": missing})


@router.get(
    "/{projectId}",
    auth=AdminKey(push_charges),
    operation_id="getPushedSources",
    summary="List pushed sources",
    response=PushedSources,
)
async def pushed_sources(request: CallerRequest, projectId: str) -> Any:
    """The pushed sources of a project, with the result of the last push of each."""
    return JsonResponse({"sources": await in_db(_list)(request.auth.project)})


@router.delete(
    "/{projectId}/{name}",
    auth=AdminKey(push_charges),
    operation_id="deletePushedSource",
    summary="Delete a pushed source with its pages",
    response={204: None},
)
async def delete(request: CallerRequest, projectId: str, name: Path[SourceName]) -> HttpResponse:
    """Take the pages of a pushed source out of the index, and forget it."""
    context.set_actor(lambda: _name(request))
    await in_db(_delete, REPORTS)(request.auth.project, name)
    return HttpResponse(status=204)


def _name(request: CallerRequest) -> str:
    """Who calls, as the audit shows it."""
    return f"key {request.auth.key}"


def _find(project: Project, name: str) -> Source | None:
    return Source.objects.select_related("project").filter(project=project, name=name, is_pushed=True).first()


def _check_name(project: Project, name: str) -> None:
    if Source.objects.filter(project=project, name=name, is_pushed=False).exists():
        raise BadRequest("name: a source of this name exists, and the service reads it from its location")


def _find_missing(project: Project, name: str, files: dict[str, str]) -> list[str]:
    return stored_files.find_missing(_find(project, name), files)


def _list(project: Project) -> list[dict[str, Any]]:
    sources = Source.objects.filter(project=project, is_pushed=True).annotate(
        number=Count("documents", filter=Q(documents__build=""))
    )
    return [
        PushedSource(
            name=source.name, state=source.state, pages=source.number, pushedAt=source.read_at, error=source.error
        ).model_dump(mode="json")
        for source in sources.order_by("name")
    ]


def _delete(project: Project, name: str) -> None:
    source = _find(project, name)
    if source is None:
        raise NotFound("No such pushed source.")
    runs.remove(source)
