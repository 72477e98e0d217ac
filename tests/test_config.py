import dataclasses

import docstring_parser
import pytest

from forensegm.config import Config, EditConfig


def test_a_configuration_survives_its_dict():
    config = Config(edit=EditConfig(images=7, split=(0.5, 0.25, 0.25)))
    config.data.source = "native:somewhere"
    assert Config.from_dict(config.to_dict()) == config


def test_parts_that_are_left_out_keep_their_defaults():
    assert Config.from_dict({"train": {"epochs": 3}}).train == dataclasses.replace(Config().train, epochs=3)


@pytest.mark.parametrize(
    ("values", "named"), [({"trian": {}}, "'trian'"), ({"train": {"epoch": 1}}, r"'train\.epoch'")]
)
def test_a_key_that_does_not_exist_is_named(values, named):
    with pytest.raises(ValueError, match=named):
        Config.from_dict(values)


@pytest.mark.parametrize("section", dataclasses.fields(Config), ids=lambda section: section.name)
def test_every_option_is_explained(section):
    part = section.default_factory
    explained = {entry.arg_name for entry in docstring_parser.parse(part.__doc__).params}
    assert explained == {option.name for option in dataclasses.fields(part)}
